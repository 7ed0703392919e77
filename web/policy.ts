/** The Content-Security-Policy of every page: the browser blocks all other requests, whatever the code does. */
export const policy = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self' 'unsafe-inline'", // CodeMirror writes its styles into the page
  "img-src 'self' data: blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");
