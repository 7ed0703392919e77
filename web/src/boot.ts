// What cannot wait: the engine takes the longest to start, so its worker loads, and the first question is on its way to it, before the interface is there.
import { engine } from "./engine/engine.ts";
import { opening } from "./examples/opening.ts";
import { startJudging } from "./project/judge.ts";
import { open } from "./project/project.ts";
import { keepSession, restoreSession } from "./project/session.ts";
import { addressed, followAddress } from "./share/address.ts";
import "./ui/theme.ts";
import "./ui/style.css";

engine.start();
if (!restoreSession() && !addressed()) open(opening);
followAddress();
keepSession();
startJudging();
void import("./main.tsx");
