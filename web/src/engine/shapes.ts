// The JSON of the engine: package engine in Go says what each field means.

export interface Position {
  line: number; // from 1
  column: number; // in code points, from 1
  offset: number; // in bytes of UTF-8, from 0
}

export interface Location {
  file: string;
  start?: Position;
  end?: Position;
}

export type Severity = "error" | "warning" | "info";

export interface Fix {
  message: string;
  safe: boolean;
  edits: { start: Position; end: Position; new: string }[];
}

export interface Resource {
  kind: string;
  name: string;
  object?: string;
  within?: string;
}

export interface Finding {
  rule: string;
  severity: Severity;
  message: string;
  notes?: string[];
  help?: string;
  resource: Resource;
  field: string;
  location: Location;
  related: { message: string; resource: Resource; field: string; location: Location }[];
  fixes: Fix[];
  url: string;
}

export interface LintAnswer {
  diagnostics: Finding[]; // the gravest 1,000 where there are more
  more: number; // that are left out of diagnostics
  summary: Summary; // of all, also of those that are left out
  files: FileReport[];
  settings: Fault[]; // what is wrong in .xdslint.yaml; the rest of it holds
  failures: Failure[];
  needs?: "constraints"; // what another engine has, and this one lacks to judge all
}

export interface Summary {
  errors: number;
  warnings: number;
  infos: number;
  suppressed: number;
  baselined: number;
  files: number;
  skipped: number;
  failures: number;
}

/** What a text was taken for; as is empty where it is no xDS, and why says what it is instead. */
export interface FileReport {
  name: string;
  as: string;
  why: string;
}

export interface Fault {
  message: string;
  location: Location;
}

/** A rule that panicked: a bug of xdslint. The other rules ran. */
export interface Failure {
  rule: string;
  message: string;
}

export interface GraphAnswer {
  nodes: GraphNode[];
  edges: GraphEdge[];
}

export interface GraphNode {
  id: string;
  kind: string;
  name: string;
  snapshot: string;
  state: "present" | "inside" | "missing" | "presumed" | "open";
  source: string;
  location: Location | null;
}

export interface GraphEdge {
  from: string;
  to: string;
  field: string;
  location: Location | null;
}

export interface PlanAnswer {
  hazards: Finding[];
  notes: Finding[];
  phases: Phase[];
  remaining: Finding[];
  restart: { kind: string; name: string }[];
  broken: Finding[];
  resources: PlanResource[]; // that phases and restart name
}

/** Where a resource of a plan stands, and what becomes of it. A temporary one is in neither snapshot. */
export interface PlanResource {
  kind: string;
  name: string;
  change: "added" | "changed" | "removed" | "same" | "temporary";
  before?: Location; // absent where that snapshot does not have it
  after?: Location;
}

export interface Phase {
  send: Record<string, Send>; // by type URL
  wait: Wait[];
  why: string;
}

export interface Send {
  update: Update[];
  remove: string[];
}

export interface Update {
  name: string;
  content: "new" | "old" | "touched";
  touched?: Touch[];
}

export interface Touch {
  field: string;
  value: string;
  why: string;
}

export interface Wait {
  for: "ack" | "unsubscribe" | "drain";
  type: string;
  names: string[];
  timeout: string;
}

export interface RuleSummary {
  id: string;
  severity: Severity;
  summary: string;
}

export interface Rule extends RuleSummary {
  page: string; // Markdown
  bad: Example | null; // null where the rule is not about xDS
  good: Example | null;
}

/** An example of a rule, ready to be judged: what its flags say stands in a .xdslint.yaml among the texts. */
export interface Example {
  before: Files; // of an example that is a push: what is there before it; else empty
  files: Files;
  targets: string[];
  transport: string; // of a push, with versions; empty: the default
  versions: string;
}

export interface About {
  version: string;
  targets: string[];
  default: string;
  transports: string[]; // the first is the default
  versions: string[]; // the ways to give versions; the first is the default
  types: ResourceType[]; // that can be pushed, in the order in which a phase sends them
  extensions: string[]; // of the files that are read in a folder
  rules: RuleSummary[];
}

export interface ResourceType {
  type: string; // its URL
  kind: string;
  api: string; // CDS, EDS …
}

/** Whether a target would take a text that is given to it alone. */
export interface Verdict {
  path: string;
  target: string;
  delivery: "bootstrap" | "push" | "config_dump";
  verdict: "accept" | "reject";
  reasons: Reason[];
}

export interface Reason {
  rule: string;
  message: string;
  upstream: string; // in the target's own words
  field: string;
  line: number;
  column: number;
}

/** Where a secret stands, never the secret itself. */
export interface Secret {
  what: string; // the key that it stands under, or what it looks like
  location: Location;
}

/** Texts by their names; .xdslint.yaml among them is the configuration. */
export type Files = Record<string, string>;

/** What can be asked, and what comes back. */
export interface Operations {
  about: { request: object; answer: About };
  lint: { request: { files: Files; targets: string[] }; answer: LintAnswer };
  graph: { request: { files: Files }; answer: GraphAnswer };
  plan: { request: { before: Files; files: Files; transport?: string; versions?: string }; answer: PlanAnswer };
  explain: { request: { rule: string; files: Files }; answer: Rule }; // files: the configuration, if the rule stands there
  fix: { request: { files: Files; targets: string[]; unsafe: boolean }; answer: { files: Files; applied: number } }; // the texts that change
  verdict: { request: { files: Files; targets: string[] }; answer: { verdicts: Verdict[] } };
  redact: { request: { files: Files }; answer: { files: Files; secrets: Secret[] } };
}

export type Operation = keyof Operations;
