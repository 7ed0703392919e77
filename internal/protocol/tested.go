package protocol

import (
	"strconv"
	"time"
)

// Tested is a clause that a type on some stream has put to the test: a server or a client that does not keep it would
// have been found.
type Tested struct {
	Clause  *Clause
	Stream  Opened
	TypeURL string
}

// Tested returns the clauses that were put to the test. Those without a finding were kept.
func (c *Checker) Tested() map[Tested]bool { return c.tested }

// test notes that the event, or what follows it, puts the clause to the test.
func (m *moment) test() { m.tested[Tested{m.clause, m.s.Opened, m.ch.typeURL}] = true }

// testIf is test, if a condition holds.
func (m *moment) testIf(condition bool) {
	if condition {
		m.test()
	}
}

// patience is how long a server has to answer, in words.
func (c *Checker) patience() string { return seconds(c.Patience) }

func seconds(d time.Duration) string {
	n := strconv.FormatFloat(d.Seconds(), 'f', -1, 64)
	if d == time.Second {
		return n + " second"
	}
	return n + " seconds"
}
