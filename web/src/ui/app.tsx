import type { FunctionComponent } from "preact";
import { Editor } from "../editor/editor.tsx";
import { ExamplesMenu } from "../examples/menu.tsx";
import { DropTarget } from "../files/drop.tsx";
import { FileMenu } from "../files/menu.tsx";
import { Tabs } from "../files/tabs.tsx";
import { RuleDialog } from "../custom/dialog.tsx";
import { Problems } from "../problems/problems.tsx";
import { active } from "../project/project.ts";
import { OriginBar } from "../share/origin-bar.tsx";
import { ShareButton } from "../share/share.tsx";
import { Banners } from "./banners.tsx";
import { lazy } from "./lazy.tsx";
import { narrow, panel, panels, show, view, type Panel, type View } from "./panels.ts";
import { Splitter, split } from "./splitter.tsx";
import { StatusLine } from "./status.tsx";
import { moveInTabs } from "./tablist.ts";
import { TargetChooser } from "./target.tsx";
import { ThemeSwitch } from "./theme-switch.tsx";
import "./layout.css";

const views: Record<Panel, { title: string; View: FunctionComponent }> = {
  problems: { title: "Problems", View: Problems },
  graph: { title: "Graph", View: lazy("The graph", async () => (await import("../graph/graph.tsx")).Graph) },
  request: { title: "Request", View: lazy("The request bar", async () => (await import("../request/request.tsx")).Request) },
  compare: { title: "Compare", View: lazy("The comparison", async () => (await import("../compare/compare.tsx")).Compare) },
};

export function App() {
  return (
    <>
      <a class="skip" href="#text" onClick={skipToText}>
        Skip to the text
      </a>
      <header class="top">
        <h1>
          <img src="./icon.svg" alt="" width="20" height="20" /> xdslint <span class="hidden-text">playground</span>
        </h1>
        <FileMenu />
        <ExamplesMenu />
        <span class="gap" />
        <TargetChooser />
        <ShareButton />
        <ThemeSwitch />
      </header>
      <main>
        <Banners />
        <OriginBar />
        <div class="work" style={{ "--split": `${split()}%` }}>
          <section class="text" id="text" aria-label="Text" tabIndex={-1} hidden={narrow.value && view.value !== "text"}>
            <h2 class="hidden-text">Text</h2>
            <Tabs />
            <div class="view editor-view" role="tabpanel" id="editor" aria-label={active.value.name}>
              <Editor />
            </div>
          </section>
          {!narrow.value && <Splitter />}
          <section class="panels" aria-label="Results" hidden={narrow.value && view.value === "text"}>
            <h2 class="hidden-text">Results</h2>
            {!narrow.value && <PanelTabs shown={panel.value} choices={panels} />}
            <PanelView />
          </section>
        </div>
        {narrow.value && <PanelTabs shown={view.value} choices={["text", ...panels]} />}
      </main>
      <StatusLine />
      <DropTarget />
      <RuleDialog />
    </>
  );
}

// A link to #text would replace the fragment of a shared link.
function skipToText(event: Event): void {
  event.preventDefault();
  show("text");
  document.getElementById("text")?.focus();
}

function PanelTabs({ shown, choices }: { shown: View; choices: readonly View[] }) {
  return (
    <div role="tablist" aria-label="Views" class={narrow.value ? "panel-tabs narrow" : "panel-tabs"} onKeyDown={moveInTabs}>
      {choices.map((choice) => (
        <button
          type="button"
          role="tab"
          key={choice}
          id={`tab-${choice}`}
          aria-selected={choice === shown}
          aria-controls={choice === "text" ? "text" : "panel"}
          tabIndex={choice === shown ? 0 : -1}
          onClick={() => show(choice)}
        >
          {choice === "text" ? "Text" : views[choice].title}
        </button>
      ))}
    </div>
  );
}

function PanelView() {
  const { View } = views[panel.value];
  return (
    <div class="view" role="tabpanel" id="panel" aria-labelledby={`tab-${panel.value}`} tabIndex={0} key={panel.value}>
      <View />
    </div>
  );
}
