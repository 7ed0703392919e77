import "./editor/scheduling.ts";
import { render } from "preact";
import { loadAbout } from "./engine/about.ts";
import { App } from "./ui/app.tsx";
import { markFirstFindings } from "./ui/first-findings.ts";
import "./offline/register.ts";

const root = document.getElementById("app");
if (root) render(<App />, root);
markFirstFindings();
loadAbout().catch(() => {}); // a banner shows it
