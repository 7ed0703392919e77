// The dialog behind "Copy link". A link with secrets, or one that may be too long, is only copied after the user agrees.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Modal } from "../ui/modal.tsx";
import { longLink, prepare, tooLongLink, type Prepared } from "./prepare.ts";
import { Secrets } from "./secrets.tsx";
import "./share.css";

type Step = { name: "preparing" } | { name: "ask"; prepared: Prepared } | { name: "tooLong"; length: number } | { name: "done"; link: string; redacted: boolean; copied: boolean };

type Copy = (link: string, redacted: boolean) => void;

export function ShareDialog({ onClose }: { onClose(): void }) {
  const step = useSignal<Step>({ name: "preparing" });
  const copy: Copy = async (link, redacted) => {
    step.value = { name: "done", link, redacted, copied: await copied(link) };
  };
  useEffect(() => {
    void prepare().then((prepared) => {
      const length = lengthOf(prepared);
      if (length > tooLongLink) step.value = { name: "tooLong", length };
      else if (length > longLink || prepared.secrets.length > 0 || prepared.unchecked) step.value = { name: "ask", prepared };
      else copy(prepared.link, false);
    });
  }, []);
  return (
    <Modal title={titleOf(step.value)} class="share" onClose={onClose}>
      <Content step={step.value} copy={copy} />
    </Modal>
  );
}

function titleOf(step: Step): string {
  switch (step.name) {
    case "preparing":
      return "Copy link";
    case "tooLong":
      return "Too large for a link";
    case "done":
      return step.copied ? "Link copied" : "Copy this link";
    case "ask":
      if (step.prepared.secrets.length > 0) return "The texts contain keys or tokens";
      return step.prepared.unchecked ? "Not checked for keys and tokens" : "This link is long";
  }
}

function Content({ step, copy }: { step: Step; copy: Copy }) {
  switch (step.name) {
    case "preparing":
      return <p role="status">Looking for keys and tokens in the texts…</p>;
    case "tooLong":
      return (
        <>
          <p>
            The link would have {count(step.length)} characters, and browsers reject links of more than {count(tooLongLink)}. Close texts that you do not need and try again, or send the files instead.
          </p>
          <div class="modal-buttons">
            <Close primary />
          </div>
        </>
      );
    case "ask":
      return <Ask prepared={step.prepared} copy={copy} />;
    case "done":
      return <Done {...step} copy={copy} />;
  }
}

function Ask({ prepared, copy }: { prepared: Prepared; copy: Copy }) {
  const { link, clean, secrets, unchecked } = prepared;
  return (
    <>
      {secrets.length > 0 && <Secrets all={secrets} />}
      {unchecked && <p>The texts could not be checked for keys and tokens: {unchecked}. Anyone with the link can read all of them.</p>}
      {lengthOf(prepared) > longLink && (
        <p>
          The link has {count(lengthOf(prepared))} characters. Many chat and mail programs cut links of more than {count(longLink)}, and a link that was cut does not open. If that may happen, send the files instead.
        </p>
      )}
      <div class="modal-buttons">
        {secrets.length > 0 ? (
          <>
            <button type="button" class="primary" ref={focus} onClick={() => copy(clean, true)}>
              Copy link without the secrets
            </button>
            <button type="button" onClick={() => copy(link, false)}>
              Copy link with the secrets
            </button>
          </>
        ) : (
          <button type="button" class="primary" ref={focus} onClick={() => copy(link, false)}>
            Copy link anyway
          </button>
        )}
        <Close />
      </div>
    </>
  );
}

function Done({ link, redacted, copied, copy }: Extract<Step, { name: "done" }> & { copy: Copy }) {
  return (
    <>
      {!copied && <p role="alert">The browser did not allow the page to copy the link. Select it and copy it yourself.</p>}
      <p role="status">
        The link contains all open texts{redacted && ", without the secrets"}. Nothing has been sent anywhere, and opening the link sends nothing to a server. But anyone with the link can read the texts.
      </p>
      <input type="text" readOnly aria-label="Link" value={link} onFocus={(e) => e.currentTarget.select()} />
      <div class="modal-buttons">
        <Close primary />
        <button type="button" onClick={() => copy(link, redacted)}>
          Copy again
        </button>
      </div>
    </>
  );
}

function Close({ primary }: { primary?: true }) {
  return (
    <button type="button" class={primary && "primary"} ref={primary && focus} onClick={(e) => e.currentTarget.closest("dialog")?.close()}>
      {primary ? "Close" : "Cancel"}
    </button>
  );
}

/** Steps replace each other in the open dialog, so the first button is focused here. */
const focus = (element: HTMLElement | null) => element?.focus();

const lengthOf = ({ link, clean }: Prepared) => Math.max(link.length, clean.length);

const count = (n: number) => n.toLocaleString("en");

async function copied(link: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(link);
    return true;
  } catch {
    return false; // forbidden, or the page came over plain HTTP
  }
}
