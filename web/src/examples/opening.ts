// The text of a first visit.
import type { Text } from "../project/project.ts";
import storefront from "./configurations/storefront.yaml?raw";

export const opening: readonly Text[] = [{ side: "after", name: "envoy.yaml", text: storefront }];
