/** Of Go: `make page` puts it into build/, where it need not be for the types to be checked. */
declare module "*/build/wasm_exec.js";
