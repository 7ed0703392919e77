// The panel that compares two snapshots: what a push from one to the other breaks, and the phases of a push that breaks nothing.
import { useSignal, useSignalEffect } from "@preact/signals";
import { about, loadAbout } from "../engine/about.ts";
import type { About, PlanAnswer } from "../engine/shapes.ts";
import { keepAsking, troubleWith } from "../project/lint.ts";
import { comparing, transport, versions } from "../project/project.ts";
import { Findings } from "./findings.tsx";
import { More } from "../ui/more.tsx";
import { Name } from "./name.tsx";
import { Open } from "./open.tsx";
import { timeline } from "./phases.ts";
import { empty, question, stop, swap } from "./sides.ts";
import { Start } from "./start.tsx";
import { summary } from "./summary.ts";
import { Timeline } from "./timeline.tsx";
import "./compare.css";

export function Compare() {
  return <div class="compare">{comparing.value ? <Comparison /> : <Start />}</div>;
}

function Comparison() {
  const plan = useSignal<PlanAnswer | null>(null);
  useSignalEffect(() => void loadAbout().catch(() => undefined)); // without an engine there is no plan either
  useSignalEffect(() => keepAsking("plan", question, (answer) => (plan.value = answer)));
  return (
    <>
      <Bar about={about.value} />
      <p class="summary" role="status">
        {said(plan.value)}
      </p>
      {empty.value && <Open side={empty.value} />}
      {about.value && plan.value && <Outcome plan={plan.value} about={about.value} />}
    </>
  );
}

function said(plan: PlanAnswer | null): string {
  if (empty.value) return `Open the ${empty.value === "before" ? "current" : "new"} configuration.`;
  const trouble = troubleWith("plan") || troubleWith("lint");
  if (trouble) return `The comparison failed: ${trouble}`;
  return plan ? summary(plan) : "Comparing…";
}

function Bar({ about }: { about: About | null }) {
  return (
    <div class="compare-bar" role="group" aria-label="Comparison">
      <Choice label="Transport" title="How resources are sent" value={transport} all={about?.transports ?? []} />
      <Choice label="Versions" title="What gets a new version in a push" value={versions} all={about?.versions ?? []} />
      <span class="ways-out">
        <button type="button" title="Compare in the other direction" onClick={swap}>
          Swap
        </button>
        <button type="button" title="Close the texts of Before" onClick={stop}>
          Stop comparing
        </button>
      </span>
    </div>
  );
}

function Choice({ label, title, value, all }: { label: string; title: string; value: typeof transport; all: readonly string[] }) {
  return (
    <label title={title}>
      {label}{" "}
      <select value={value.value || all[0]} onChange={(event) => (value.value = event.currentTarget.value)}>
        {all.map((one) => (
          <option>{one}</option>
        ))}
      </select>
    </label>
  );
}

function Outcome({ plan, about }: { plan: PlanAnswer; about: About }) {
  return (
    <>
      <Findings title="Errors in the new configuration" all={plan.broken} />
      <Findings title="Hazards of pushing everything at once" all={plan.hazards} />
      {plan.phases.length > 0 && <Timeline {...timeline(plan, about.types)} />}
      <Findings title="No order avoids this" all={plan.remaining} />
      <Restart plan={plan} />
      <Findings title="Notes" all={plan.notes} />
    </>
  );
}

function Restart({ plan: { restart, resources } }: { plan: PlanAnswer }) {
  if (restart.length === 0) return null;
  return (
    <section class="compare-section" aria-label="Restart">
      <h3>Only a restart changes this</h3>
      <p class="muted">It is part of the bootstrap, which a push cannot change. Restart Envoy.</p>
      <More all={restart} first={20}>
        {({ kind, name }) => {
          const resource = resources.find((r) => r.kind === kind && r.name === name);
          return (
            <>
              {kind.replaceAll("_", " ")} <Name name={name} location={resource?.after ?? resource?.before} />
            </>
          );
        }}
      </More>
    </section>
  );
}
