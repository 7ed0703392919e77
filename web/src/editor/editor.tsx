// The editor shows the project's texts and passes edits to the project.
import { effect, useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Announcer } from "../problems/announcer.tsx";
import { findings } from "../project/lint.ts";
import { active, find, revealed, texts } from "../project/project.ts";
import { narrow } from "../ui/panels.ts";
import { follow, jump, mark, show, view } from "./documents.ts";
import { hintId } from "./setup.ts";
import "./editor.css";

let seen = revealed.peek();

function update(): void {
  follow(texts.value);
  show(find(active.value));
}

export function Editor() {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    place.current?.prepend(view.dom);
    view.requestMeasure();
    // At once, since keys that are pressed before the next frame would change the text that was shown before. On a narrow screen the text may be
    // hidden until then, and cannot be scrolled.
    return effect(() => {
      if (!narrow.value) update();
    });
  }, []);
  useSignalEffect(() => {
    update();
    mark(findings.value);
    if (revealed.value && revealed.value !== seen) jump(revealed.value.side, revealed.value.location);
    seen = revealed.value;
  });
  return (
    <div class="editor" ref={place}>
      <p class="hidden-text" id={hintId}>
        Tab indents; press Escape, then Tab, to leave the editor. F8 goes to the next problem, Shift F8 to the previous one. Control period shows quick fixes. Control Shift M goes to the list of
        problems.
      </p>
      <Announcer />
    </div>
  );
}
