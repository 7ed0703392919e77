// What a URL does not say: the listener, the TLS handshake and the client.
import type { Asked } from "../engine/shapes.ts";
import { asked } from "../project/project.ts";
import { change, followed } from "./state.ts";

const fields: { key: Exclude<keyof Asked, "text" | "listener">; label: string; title: string; placeholder: string }[] = [
  { key: "sni", label: "SNI", title: "The server name that the client asks for; the connection is TLS", placeholder: "as in the URL" },
  { key: "alpn", label: "ALPN", title: "The protocols that the client offers, separated by commas; the connection is TLS", placeholder: "h2, http/1.1" },
  { key: "certificate", label: "Client certificate", title: "The URI or DNS name in the client's certificate; the connection is TLS", placeholder: "none" },
  { key: "source", label: "Source", title: "The address of the client", placeholder: "not known" },
];

export function Form() {
  const answer = followed.value?.answer;
  if (answer && !answer.target.startsWith("envoy:")) return null;
  const listeners = answer?.listeners ?? [];
  const { listener } = asked.value;
  const set = fields.filter(({ key }) => asked.value[key] !== "").length;
  return (
    <div class="request-form">
      {(listeners.length > 1 || listener !== "") && (
        <label>
          Listener{" "}
          <select value={listener} onChange={(event) => change({ listener: event.currentTarget.value })}>
            <option value="">by the port</option>
            {[...new Set(listener === "" ? listeners : [listener, ...listeners])].map((name) => (
              <option key={name} value={name}>
                {name || "(no name)"}
              </option>
            ))}
          </select>
        </label>
      )}
      <details>
        <summary>Connection{set > 0 && ` (${set} set)`}</summary>
        <div class="fields">
          {fields.map(({ key, label, title, placeholder }) => (
            <label key={key} title={title}>
              {label}
              <input type="text" spellcheck={false} autocomplete="off" placeholder={placeholder} value={asked.value[key]} onInput={(event) => change({ [key]: event.currentTarget.value })} />
            </label>
          ))}
        </div>
      </details>
    </div>
  );
}
