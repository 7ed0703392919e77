// The tooltip of a finding: what is wrong, how to fix it, and why the rule exists.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Files, Finding, Fix } from "../engine/shapes.ts";
import { Fixes, Help, Notes, RuleLink, Word } from "../problems/parts.tsx";
import { explained, type Explained } from "./explain.ts";

interface Props {
  finding: Finding;
  texts: Files; // in which it was found
  apply(fix: Fix): void;
}

export function hover(props: Props): HTMLElement {
  const place = document.createElement("div");
  render(<Hover {...props} />, place);
  return place;
}

function Hover({ finding, texts, apply }: Props) {
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
