// Examples of whole configurations. The other examples are those of the rules.
import { example as push } from "../compare/example.ts";
import { settingsName, type Text } from "../project/project.ts";
import configDump from "./configurations/config_dump.json?raw";
import envoyFilter from "./configurations/envoyfilter.yaml?raw";
import storefrontFixed from "./configurations/storefront-fixed.yaml?raw";
import customRulesFixed from "./configurations/custom-rules-fixed.yaml?raw";
import customRules from "./configurations/custom-rules.yaml?raw";
import customRulesSettings from "./configurations/custom-rules.xdslint.yaml?raw";
import { opening } from "./opening.ts";

export interface Configuration {
  name: string; // in links
  title: string;
  summary: string;
  texts: readonly Text[];
  fixed?: readonly Text[];
}

const one = (name: string, text: string): Text[] => [{ side: "after", name, text }];
const storefront = one("envoy.yaml", storefrontFixed);
const withCustomRules = (text: string) => [...one("envoy.yaml", text), ...one(settingsName, customRulesSettings)];

export const configurations: readonly Configuration[] = [
  { name: "storefront", title: "An edge proxy with four mistakes", summary: "A bootstrap with a route to a misspelled cluster, an invalid port, a deprecated field, and a number instead of a string.", texts: opening, fixed: storefront },
  { name: "storefront-fixed", title: "An edge proxy that works", summary: "A bootstrap without problems, to edit or to draw.", texts: storefront },
  { name: "config-dump", title: "The config_dump of a running Envoy", summary: "What an Envoy has received over xDS so far: the routes arrived before the cluster that they need.", texts: one("config_dump.json", configDump) },
  { name: "envoyfilter", title: "Patches of an Istio EnvoyFilter", summary: "A Kubernetes manifest with a wrong limit, and a field that Istio silently drops.", texts: one("envoyfilter.yaml", envoyFilter) },
  { name: "custom-rules", title: "Custom rules in CEL", summary: "A team's constraints in .xdslint.yaml: names, timeouts, and what customers can reach.", texts: withCustomRules(customRules), fixed: withCustomRules(customRulesFixed) },
  { name: "push", title: "A push to compare", summary: "The current and the new configuration of some proxies: what fails if it is pushed all at once, and an order in which nothing fails.", texts: push },
];
