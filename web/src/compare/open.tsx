import { openFiles, openFolder } from "../files/pick.ts";
import type { Side } from "../project/project.ts";

/** Buttons that open files as one side of a comparison. */
export function Open({ side }: { side: Side }) {
  return (
    <span class="open">
      <button type="button" onClick={() => openFiles(side)}>
        Open files…
      </button>
      <button type="button" onClick={() => openFolder(side)}>
        Open folder…
      </button>
    </span>
  );
}
