// The engine takes the longest to start, so it gets its first question before the interface is loaded.
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
