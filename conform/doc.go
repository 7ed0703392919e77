// Package conform tests a running management server, or a client: does it keep the xDS protocol?
//
// [Run] is a client that behaves, and one that does not: it subscribes and unsubscribes, rejects responses, sends stale
// nonces, reconnects and reads slowly, over SotW and Delta, over an aggregated stream and over one for each type. It
// needs no adapter: it asks for what the server serves. With [Options.Change], it also sees updates.
//
// Each scenario (scenarios.go, changes.go) writes a recording in memory. The checker of internal/protocol, which also
// judges recordings for `xdslint trace`, judges it and says what it waits for (play.settle); nothing here judges.
//
// [Clients] is the other side: a management server that tests the clients that connect to it (clientscenarios.go). It
// serves what they ask for, and then what is wrong or odd.
//
// In a control plane's own tests:
//
//	report, err := conform.Run(ctx, pull.Server{Address: addr}, conform.Options{Node: node})
//	if err != nil {
//		t.Fatal(err)
//	}
//	for _, c := range report.Broken() {
//		t.Error(c)
//	}
package conform
