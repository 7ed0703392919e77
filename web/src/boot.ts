// What cannot wait: the engine takes the longest to start, so its worker loads, and the first question is on its way to it, before the interface is there.
import { engine } from "./engine/engine.ts";
import { opening } from "./examples/opening.ts";
import { startLinting } from "./project/lint.ts";
import { open } from "./project/project.ts";
import { keepSession, restoreSession } from "./project/session.ts";
import { hasLink, followLinks } from "./share/address.ts";
import "./ui/theme.ts";
import "./ui/style.css";

engine.start();
if (!restoreSession() && !hasLink()) open(opening);
followLinks();
keepSession();
startLinting();
void import("./main.tsx");
