// Lists the locations and kinds of secrets, never the secrets themselves.
import type { Prepared } from "./prepare.ts";
import { comparing } from "../project/project.ts";

const shown = 50;

export function Secrets({ all }: { all: Prepared["secrets"] }) {
  return (
    <>
      <p>Anyone with the link can read the texts. These look like secrets:</p>
      <ul class="secrets" tabIndex={0} aria-label="Secrets">
        {all.slice(0, shown).map(({ side, what, location }) => (
          <li>
            <code>
              {comparing.value && `${side}: `}
              {location.file}
              {location.start && `:${location.start.line}`}
            </code>{" "}
            {what}
          </li>
        ))}
      </ul>
      {all.length > shown && <p>… and {all.length - shown} more.</p>}
    </>
  );
}
