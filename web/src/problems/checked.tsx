// What was checked and what was not, since an empty list of problems could mean either.
import { engine } from "../engine/engine.ts";
import { findings, troubleWith, type Findings } from "../project/lint.ts";
import { settingsName, texts } from "../project/project.ts";
import { plural, sides } from "./findings.ts";

/** Shown instead of the list while there are no answers. */
export function Waiting() {
  const trouble = troubleWith("lint");
  if (trouble) return <p class="problems-note">The texts could not be checked: {trouble}</p>;
  if (texts.value.length === 0) return <p class="problems-note muted">No text is open. Paste a configuration, drop files, or choose an example.</p>;
  const status = engine.status.value;
  if (typeof status === "object") return <p class="problems-note">The texts are not checked, because the engine is not running.</p>;
  return <p class="problems-note muted">{status === "ready" ? "Checking…" : "The engine is loading…"}</p>;
}

export function NoProblems({ answers }: { answers: readonly Findings[] }) {
  const files = answers.flatMap((answer) => answer.files.filter((file) => file.as !== ""));
  if (files.length === 0) return null;
  return (
    <div class="problems-note">
      <p class="ok">
        <strong>No problems in {plural(files.length, "file")}</strong>
      </p>
      <ul>
        {files.map((file) => (
          <li>
            {file.name}: <span class="muted">{file.as}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

export function LeftOut({ answers }: { answers: readonly Findings[] }) {
  const skipped = answers.flatMap((answer) => answer.files.filter((file) => file.as === "" && file.name !== settingsName && !listed(answer, file.name)));
  const failures = answers.flatMap((answer) => answer.failures);
  const suppressed = answers.reduce((sum, answer) => sum + answer.summary.suppressed, 0);
  const unjudged = answers.some((answer) => answer.needs);
  if (skipped.length + failures.length + suppressed === 0 && !unjudged) return null;
  return (
    <div class="problems-note">
      {unjudged && <p class="warning">The constraints in .xdslint.yaml are not checked{engine.largerStatus.value === "loading" && " yet"}.</p>}
      {suppressed > 0 && <p class="muted">{plural(suppressed, "finding")} suppressed by a comment or by .xdslint.yaml.</p>}
      {failures.map((failure) => (
        <p class="warning">
          The rule {failure.rule} failed, so its findings are missing: {failure.message}
        </p>
      ))}
      {skipped.length > 0 && (
        <>
          <h3>Not checked</h3>
          <ul>
            {skipped.map((file) => (
              <li>
                {file.name}: <span class="muted">{file.why}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

const listed = (answer: Findings, file: string) => answer.diagnostics.some(({ location }) => location.file === file);

/** The available answers, "after" first. */
export const answersOf = () => sides.map((side) => findings.value[side]).filter((answer) => answer !== null);
