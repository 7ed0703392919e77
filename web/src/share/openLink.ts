// Opens what a URL names.
import { loadAbout } from "../engine/about.ts";
import { exampleOf } from "../examples/example.ts";
import { opening } from "../examples/opening.ts";
import { open, target, texts } from "../project/project.ts";
import { unpack } from "./link.ts";
import { showError, replace, showExample, setOrigin } from "./origin.ts";

let latest = 0;

/** The latest request wins, even if an earlier one takes longer. */
export async function openLink(hash: string): Promise<void> {
  const turn = ++latest;
  try {
    const show = hash.startsWith("#p=") ? await shared(hash) : await example(hash);
    if (turn === latest) show();
  } catch (error) {
    if (turn !== latest) return;
    if (texts.peek().length === 0) open(opening);
    showError(error);
  }
}

async function example(hash: string): Promise<() => void> {
  const found = await exampleOf(hash.slice("#example=".length));
  return () => showExample(found, false);
}

async function shared(hash: string): Promise<() => void> {
  const project = await unpack(hash);
  return () => {
    replace(project, { kind: "link", note: "" });
    if (project.target) void checkTarget(project.target);
  };
}

/** A link may name a target that this version of the playground does not have. */
async function checkTarget(wanted: string): Promise<void> {
  const about = await loadAbout();
  if (about.targets.includes(wanted) || target.peek() !== wanted) return;
  target.value = "";
  setOrigin({ kind: "link", note: `It asks for the target ${wanted}, which this playground does not know. ${about.default} is used instead.` });
}
