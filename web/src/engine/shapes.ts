// The engine's JSON. The Go package of the playground documents each field.

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
  more?: number;
}

export interface LintAnswer {
  diagnostics: Finding[]; // at most 1,000, the most severe first
  more: number; // that are not in diagnostics
  summary: Summary; // of all findings, listed or not
  files: FileReport[];
  settings: Fault[]; // errors in .xdslint.yaml; the rest of it is in effect
  failures: Failure[];
  needs?: "constraints"; // what this engine lacks to check everything
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

/** The type of a text. If it is not xDS, as is empty and why says what it is. */
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

/** A resource of a plan: its locations and its change. A temporary one is in neither snapshot. */
export interface PlanResource {
  kind: string;
  name: string;
  change: "added" | "changed" | "removed" | "same" | "temporary";
  before?: Location; // absent if it is not in that snapshot
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
  severity: "off" | Severity; // without a profile
  summary: string;
}

export interface Rule extends RuleSummary {
  page: string; // Markdown
  bad: Example | null; // null where the rule is not about xDS
  good: Example | null;
}

/** An example of a rule, ready to be linted. Its flags are written to a .xdslint.yaml among the texts. */
export interface Example {
  before: Files; // the snapshot before a push; empty if the example is not a push
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

/** Reports whether a target accepts a text on its own. */
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
  severity: Severity; // of the finding
  upstream: string; // the message of the target
  field: string;
  line: number;
  column: number;
}

/** The location of a secret, never the secret itself. */
export interface Secret {
  what: string; // its key, or what it looks like
  location: Location;
}

/** Texts by name. .xdslint.yaml is the configuration. */
export type Files = Record<string, string>;

/** The operations: request and answer. */
export interface Operations {
  about: { request: object; answer: About };
  lint: { request: { files: Files; targets: string[] }; answer: LintAnswer };
  graph: { request: { files: Files }; answer: GraphAnswer };
  plan: { request: { before: Files; files: Files; targets: string[]; transport?: string; versions?: string }; answer: PlanAnswer };
  explain: { request: { rule: string; files: Files }; answer: Rule }; // files: the configuration of a custom rule
  fix: { request: { files: Files; targets: string[]; unsafe: boolean }; answer: { files: Files; applied: number } }; // the texts that change
  verdict: { request: { files: Files; targets: string[] }; answer: { verdicts: Verdict[] } };
  redact: { request: { files: Files }; answer: { files: Files; secrets: Secret[] } };
}

export type Operation = keyof Operations;
