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
  assumes: string[]; // what must hold for an accept, and the file does not show
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

/** What the request bar and its form hold. */
export interface Asked {
  text: string; // the request: a method and a URL with headers below, or a curl command
  listener: string; // its name; empty: as the port of the request says
  sni: string; // this and the following replace what the text says
  alpn: string; // separated by commas
  certificate: string; // the name in the client's certificate
  source: string;
}

/** What happens to a request. */
export interface FollowAnswer {
  target: string; // that the walk is of
  title: string; // the request as it is understood
  problem: string; // why it is not followed; empty if it is
  listeners: string[];
  steps: Step[];
  outcome: string[]; // who answers what, and then what else happens to the request and the response
  tone: "passes" | "answers" | "unknown";
  doubtful: boolean; // the outcome is what happens unless a filter answers
  unknown: Doubt[];
}

/** A part of the configuration on the way of a request. */
export interface Step {
  kind: string;
  name: string; // empty: none takes the request
  says: string;
  state: string; // passes, answers, disabled, unknown; unreached; empty
  location: Location | null;
  settings: Setting[];
  passed: Candidate[];
}

/** A configuration of a filter that is in effect, without its secrets. */
export interface Setting {
  of: string;
  text: string;
  location: Location | null;
}

/** A candidate that did not take the request. */
export interface Candidate {
  name: string;
  why: string;
  location: Location | null;
}

export interface Doubt {
  field: string;
  why: string;
}

export interface HolesAnswer {
  holes: Hole[];
  partial: boolean; // not all requests could be tried
  examples: string[]; // requests to begin with
}

/** A request that gets past a guard. */
export interface Hole {
  title: string;
  says: string;
  host: string; // the virtual host of the request that is guarded
  target: string; // the cluster
  guards: GuardReason[];
  more: number; // holes of the same cause
  curl: string;
}

export interface GuardReason {
  says: string;
  location: Location | null;
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
  follow: { request: { files: Files; targets: string[]; asked: Asked }; answer: FollowAnswer };
  holes: { request: { files: Files }; answer: HolesAnswer };
  redact: { request: { files: Files }; answer: { files: Files; secrets: Secret[] } };
}

export type Operation = keyof Operations;
