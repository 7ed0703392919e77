import { about } from "../engine/about.ts";
import { engine, type Status } from "../engine/engine.ts";
import { findings } from "../project/lint.ts";
import "./status.css";

export function StatusLine() {
  return (
    <footer class="status">
      <EngineState status={engine.status.value} />
      {engine.largerStatus.value === "loading" && <span class="engine-state engine-loading">Loading the larger engine…</span>}
      <Checked />
      <span class="gap" />
      <span class="private">Runs in your browser: nothing you open is sent anywhere.</span>
      <a href="./rules/index.html">All rules</a>
      {about.value && <span class="muted">xdslint {about.value.version}</span>}
    </footer>
  );
}

function EngineState({ status }: { status: Status }) {
  const [name, said] = typeof status === "object" ? ["failed", "The engine is not running"] : status === "loading" ? ["loading", "Starting the engine…"] : ["ready", "Ready"];
  return <span class={`engine-state engine-${name}`}>{said}</span>;
}

function Checked() {
  const summary = findings.value.after?.summary;
  if (!summary) return null;
  return (
    <span class="muted">
      {count(summary.errors, "error")}, {count(summary.warnings, "warning")}
      {summary.infos > 0 && `, ${summary.infos} info`}
    </span>
  );
}

const count = (n: number, what: string) => `${n} ${what}${n === 1 ? "" : "s"}`;
