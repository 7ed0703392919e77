// Package server lints and plans over HTTP: it is `xdslint serve`. It reads nothing besides the requests and the
// certificate files, and judges with a [Linter] that the caller gives it.
//
// [Server.ServeHTTP] makes an exchange of each request, and contained calls the handler of its path: lint, plan or
// review (answers.go). A handler goes through three parts:
//
//  1. The body is read as it arrives (whole, parts). Memory for it is charged to a budget before it is allocated, and
//     only for bytes that were received: a client that announces much and sends little holds little.
//  2. judge waits for a slot, for half of the timeout, and works in it in a goroutine.
//  3. The answer is charged as it is written, up to half of the budget, and then sent.
//
// So a slow client holds the memory that it has filled, and no slot: it stops neither judging nor other clients.
//
// Nothing waits for the budget. A request that waited while it holds a part could wait for another one that does the
// same; it is rejected with status 429 instead. Work that takes longer than the timeout is answered without a result.
// Its slot and its charge stay with it until it ends, so late work cannot add up.
//
// The webhook judges in less time than the API server gives, and lets in, with a warning, what is not judged by then. A
// client must take each piece of its answer within ten seconds (exchange.expect).
//
// A panic becomes status 500 (recovered). Logs never contain a body, a query, the value of a panic, or a text that may
// quote a request (problem.quotes). A rule that panics does not fail a lint; it fails a plan, because an incomplete
// search for hazards would look like a push without hazards.
//
// Certificates are read by certificates.current when a connection begins, at most once a second. The last valid pair is
// served while the files do not match.
//
// When [Server.Serve] stops, /readyz fails and answers close their connections for a second before the listener closes,
// so that requests on their way still get an answer. The tests of time and slowness run in testing/synctest bubbles.
package server
