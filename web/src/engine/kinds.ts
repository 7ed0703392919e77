// There are two engines: one for every visit, and a larger one with CEL for constraints, which also follows requests.
import larger from "../../build/larger.wasm?url";
import smaller from "../../build/engine.wasm?url";

export type Kind = "smaller" | "larger";

export const addresses: Record<Kind, string> = { smaller, larger };
