// Package evidence shows what a running Envoy does with an example of a rule: the section seen/EXAMPLE of the rule's archive says what is sent
// and what comes back, a line for each, and Check does it with a real Envoy.
//
//	upstream NAME answers STATUS [after DURATION] | hangs | closes     what a cluster's endpoints do; otherwise they answer 200 at once
//	upstream NAME is lost                                              nothing gets through to it, and its connections stay open
//	upstream NAME answers with HEADER: VALUE
//	upstream NAME speaks TLS [1.2|1.3] [as SERVERNAME]
//	replace NAME by NAME                                               a certificate and its key, in the files that Envoy has read
//	send METHOD PATH [to LISTENER|admin] [over TLS] [over HTTP/2] [over IPv4|127.0.0.2] [N times]
//	with HEADER: VALUE                                                 more of the request above
//	with body of N bytes | SNI NAME | ALPN NAME,… | certificate NAME | self-signed certificate NAME | first line TEXT
//	with trust in FILE                                                 the client verifies the certificate, and trusts the one in a file of the example
//	get STATUS [from NAME] [N times]                                   of the answers: each, or exactly N of them
//	get closed [N times]                                               the connection, without an answer
//	get HEADER: VALUE | no HEADER | certificate NAME                   of each answer
//	NAME sees METHOD PATH | HEADER: VALUE | no HEADER | body of N bytes | SNI NAME | no SNI
//	NAME sees nothing | N requests                                     since the line above that sends
//	stat NAME is [at least] N                                          of /stats
//	admin PATH shows TEXT | lacks TEXT                                 a page of the admin interface
//
// A name is that of a cluster, an address of one of its endpoints as in the example (10.0.0.1:8080), or Envoy, for answers that no upstream
// gives. In a VALUE, … stands for any text. Consecutive lines about what one upstream sees are about one request. A line that may have to wait
// does so: for a request that arrives later, a stat or a page. A line that begins with # is a comment.
//
// Envoy runs on the example as it is, except for these (config.go): listeners get free ports, endpoints the addresses of servers that say what
// they see, and certificates in files NAME.crt and NAME.key are made for NAME. A
// watched_directory is the one of these files.
package evidence

import (
	"context"
	"fmt"
	"time"

	"github.com/xdslint/xdslint/internal/envoytest"
)

// How long a line waits for what it says, and all lines together: they only end evidence that does not hold.
const (
	patience = time.Minute
	limit    = 5 * time.Minute
)

// Evidence is what a section of an archive says.
type Evidence struct {
	name     string
	steps    []step
	patience time.Duration
}

// Check does what the evidence says with an Envoy that runs on the files of an example. The error says what Envoy does instead.
func (e *Evidence) Check(ctx context.Context, v envoytest.Version, files map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	w, err := newWorld(v, files)
	if err != nil {
		return err
	}
	defer w.close()
	w.patience = e.patience
	for _, s := range e.steps {
		if err := s.do.run(ctx, w); err != nil {
			return fmt.Errorf("%s:%d: %w", e.name, s.line, err)
		}
	}
	return nil
}

// step is a line, with the ones that belong to it.
type step struct {
	line int
	do   action
}

// action is what a step does in a world.
type action interface {
	run(ctx context.Context, w *world) error
}

// eventually waits until a condition holds. The error is the last one of check.
func (w *world) eventually(ctx context.Context, check func() error) error {
	ctx, cancel := context.WithTimeout(ctx, w.patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return err
		}
	}
}
