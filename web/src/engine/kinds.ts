// There are two engines: one for every visit, and a larger one, which knows CEL too, for those who have constraints.
import larger from "../../build/constraints.wasm?url";
import smaller from "../../build/engine.wasm?url";

export type Kind = "smaller" | "larger";

export const addresses: Record<Kind, string> = { smaller, larger };
