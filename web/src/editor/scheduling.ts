// CodeMirror parses in the background, 100 ms at a time in a browser that can say whether input waits, and else no longer than the browser is idle. A key
// that is pressed meanwhile should not wait for 100 ms, so it does not get to know. It looks once, when it is loaded: this comes before.
if ("scheduling" in navigator) Object.defineProperty(navigator, "scheduling", { value: undefined });
