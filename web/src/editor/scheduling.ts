// CodeMirror parses in the background: 100 ms at a time where the browser can report waiting input, else only while the browser is idle. A key press
// should not wait for 100 ms, so that API is hidden. CodeMirror checks for it when it is loaded, so this module is loaded first.
if ("scheduling" in navigator) Object.defineProperty(navigator, "scheduling", { value: undefined });
