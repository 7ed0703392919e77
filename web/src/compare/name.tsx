import type { Location } from "../engine/shapes.ts";
import { reveal } from "../project/project.ts";
import { placed } from "./sides.ts";

/** The name of a resource, with a link to its text if there is one. */
export function Name({ name, location }: { name: string; location: Location | undefined }) {
  if (!location) return <span class="name">{name}</span>;
  const at = placed(location);
  return (
    <button type="button" class="link name" title={`${at.side}: ${at.location.file}`} onClick={() => reveal(at.side, at.location)}>
      {name}
    </button>
  );
}
