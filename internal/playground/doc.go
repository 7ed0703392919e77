// Package playground does with texts what the commands do with files: a request and its answer are JSON, and the texts of
// a request can follow it as they are. It has no disk and no network. web/src/engine/shapes.ts describes request and
// answer for TypeScript, and a test holds the two together.
//
// [Engine.Call] is all that the page knows of Go. It decodes the request and calls the function of the operation:
// lintTexts, draw, planPush, explainRule, fixTexts, judge, withoutSecrets, follow, findHoles or about. Most first make a project
// of the texts: the configuration that is nearest to the root, and everything else as [xdslint.Texts]. So the page and
// the command share all stages between a text and a report. What is wrong with a request is answered as {"error": …}; a
// fault in the configuration is listed in the answer, and the rest of the configuration counts. An answer holds at most
// 1,000 findings, the most severe ones, and says how many more there are.
//
// The engine keeps what the last lint has read and judged ([xdslint.Session]), so that a key costs what it changes.
//
// There are two engines of one source (wasm/browser). The smaller one is for every visit. The larger one is built with
// the tag larger: it sets Engine.Custom, and links CEL; it sets Engine.Follow and Engine.Holes, and links what follows
// requests (package bar). If the configuration has constraints, the smaller engine runs all other rules and answers
// "needs": "constraints". Rules that only have the names of the custom rules (standIn) make severities, ignores and
// comments about them understood. Asked to follow a request, it answers "needs": "requests". The page then loads the
// larger engine in a second worker, while the smaller one answers, and replaces the smaller one for good. If the
// download fails, the smaller one stays.
//
// In the browser (web/src/engine), a worker downloads, compiles and runs the engine, because the page is busy with its
// interface at that time. The page keeps the compiled module: a restart after a crash, or after a question that takes
// longer than 20 seconds, needs no network. One question is asked at a time, so it is known which one crashed the
// engine, and those texts are not sent again. Findings come before graphs and plans.
//
// Starting a Go program of this size takes long, because the browser compiles many functions that run once. So the
// build starts it once: web/scripts/preinitialise.ts lets the engine lint an example, and writes its memory and globals
// into a new module as the initial ones. It uses a clock and random numbers that never vary, so the same source gives
// the same module, and the seeds of Go's maps are the same in every browser: do not draw secrets from them. If this
// fails, or the new module answers differently, the build takes the plain module, and the page starts more slowly.
//
// The command in the folder wasi is the same engine for other hosts: a line in, a line out. A test compares its answers
// with the native ones, to the byte.
package playground
