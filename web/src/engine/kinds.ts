// There are two engines: one for every visit, and a larger one with CEL for users of constraints.
import larger from "../../build/constraints.wasm?url";
import smaller from "../../build/engine.wasm?url";

export type Kind = "smaller" | "larger";

export const addresses: Record<Kind, string> = { smaller, larger };
