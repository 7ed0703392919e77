// The tooltip of a finding: what is wrong, how to fix it, and why the rule exists.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Files } from "../engine/shapes.ts";
import { Fixes, Help, Notes, RuleLink, Word } from "../problems/parts.tsx";
import type { Mark } from "./marks.ts";
import { explained, type Explained } from "./explain.ts";

export function hover(mark: Mark): HTMLElement {
  const place = document.createElement("div");
  render(<Hover mark={mark} />, place);
  return place;
}

function Hover({ mark: { finding, texts, apply } }: { mark: Mark }) {
  return (
    <div class="hover">
      <p>
        <Word severity={finding.severity} /> {finding.message}
      </p>
      <Notes notes={finding.notes} />
      <Help help={finding.help} />
      <Fixes fixes={finding.fixes} apply={apply} />
      {finding.rule && <Why rule={finding.rule} texts={texts} />}
    </div>
  );
}

function Why({ rule, texts }: { rule: string; texts: Files }) {
  const [known, setKnown] = useState<Explained | null>(null);
  useEffect(() => {
    let gone = false;
    void explained(rule, texts).then((all) => gone || setKnown(all));
    return () => {
      gone = true;
    };
  }, [rule, texts]);
  return (
    <div class="why">
      {known && <p>{known.summary}</p>}
      {known?.why && <p>{known.why}</p>}
      <p>
        <RuleLink rule={rule} texts={texts} />
      </p>
    </div>
  );
}
