package conform

import (
	"context"
	"errors"
	"io"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/internal/protocol"
	"github.com/xdslint/xdslint/internal/recorder"
)

// scenario is what clients do. Each begins with a new recording.
type scenario struct {
	name    string
	only    func(transport) bool // nil: all
	changes bool                 // it needs Options.Change
	run     func(*play)
}

// play is a scenario over a transport, while it runs. All of it happens in one goroutine, but for reading from streams.
type play struct {
	*run
	transport
	ctx     context.Context
	checker *protocol.Checker
	out     *recorder.Writer
	inbox   chan arrival
	clients []*client
	cancel  context.CancelFunc
	size    int // of what the server has sent
}

// arrival is what a stream has received, or how it ended.
type arrival struct {
	from     *stream
	response proto.Message
	err      error
}

// scenario plays a scenario, and adds what its recording shows to the results.
func (r *run) scenario(ctx context.Context, t transport, s scenario) error {
	within, cancel := context.WithCancel(ctx)
	defer cancel() // what reads from streams
	p := &play{run: r, transport: t, ctx: within, cancel: cancel, checker: protocol.NewChecker(), inbox: make(chan arrival, queue)}
	p.checker.Patience = r.Wait
	p.out = recorder.Live(t.String()+", "+s.name, p.checker)
	s.run(p)
	for _, c := range p.clients {
		c.close()
	}
	p.checker.End()
	r.results.add(s.name, p.checker, 0)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return p.out.Close()
}

// endless is a number of messages, after which a server is not listened to any longer.
const endless = 500

// maxSize is how much a server may send in a scenario, in bytes. All of it is kept.
const maxSize = 128 << 20

// queue is how many messages of the server wait until they are taken.
const queue = 16

// silence returns how long nothing must come until the server is silent: longer than it took for any response, within
// limits.
func (r *run) silence() time.Duration {
	return min(max(50*time.Millisecond, 3*r.slowest), 500*time.Millisecond)
}

// settle lets clients talk until the server is silent, and has sent what the checker waits for or is late with it.
func (p *play) settle() {
	for range endless {
		began := time.Now()
		timer := time.NewTimer(p.pause())
		select {
		case a := <-p.inbox:
			timer.Stop()
			p.slowest = max(p.slowest, time.Since(began))
			p.take(a)
		case <-timer.C:
			p.checker.Expire(time.Now())
			if !p.checker.Pending() {
				p.giveUp()
				return
			}
		case <-p.ctx.Done():
			timer.Stop()
			return
		}
	}
}

// pause returns how long nothing must come: longer while a client has asked for something. What it asked for need not
// exist.
func (p *play) pause() time.Duration {
	for _, c := range p.clients {
		for _, s := range c.types {
			if s.open && len(c.streams) > 0 {
				return 4 * p.silence()
			}
		}
	}
	return p.silence()
}

// giveUp does not wait for what did not come.
func (p *play) giveUp() {
	for _, c := range p.clients {
		for _, s := range c.types {
			s.open = false
		}
	}
}

// take records a message, and lets its client answer.
func (p *play) take(a arrival) {
	switch {
	case a.from.closed:
	case a.err != nil:
		p.ended(a)
	default:
		raw := marshal(a.response)
		a.from.recorded.Response(raw)
		if p.size += len(raw); p.size > maxSize {
			p.note("%s: the server sent more than %d MiB in a scenario, the rest of which is left out", p.transport, maxSize>>20)
			p.cancel()
			return
		}
		a.from.client.receive(a.from, a.response)
	}
}

// ended records that the server has ended a stream.
func (p *play) ended(a arrival) {
	s := status.Convert(a.err)
	if errors.Is(a.err, io.EOF) {
		s = status.New(0, "")
	}
	a.from.closed = true
	p.unserved[p.transport] = p.unserved[p.transport] || p.aggregated && s.Code() == codes.Unimplemented
	a.from.recorded.Close(s.Code().String(), s.Message())
	if p.ctx.Err() == nil {
		p.note("%s: the server ended a stream: %s %s", p.transport, s.Code(), s.Message())
	}
}

func marshal(m proto.Message) []byte {
	raw, err := proto.Marshal(m)
	if err != nil {
		panic(err) // it was received, or made here
	}
	return raw
}
