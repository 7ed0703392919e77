package transitions

import (
	"net"
	"sync"
	"time"
)

// proxy is the network between a control plane and its Envoy. It delays what passes through.
type proxy struct {
	listener net.Listener
	delay    time.Duration // in each direction

	mu     sync.Mutex
	target string
	closed bool
	conns  []net.Conn
	wg     sync.WaitGroup
}

func startProxy(target string, delay time.Duration) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: l, target: target, delay: delay}
	p.wg.Go(p.accept)
	return p, nil
}

func (p *proxy) port() int { return p.listener.Addr().(*net.TCPAddr).Port }

// turn leads new connections to another target.
func (p *proxy) turn(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

func (p *proxy) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.closed = true
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.wg.Wait()
}

func (p *proxy) accept() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		target := p.target
		p.mu.Unlock()
		far, err := net.Dial("tcp", target)
		if err != nil {
			_ = near.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, near, far)
		if p.closed {
			_, _ = near.Close(), far.Close()
		}
		p.mu.Unlock()
		p.wg.Go(func() { p.pass(near, far) })
		p.wg.Go(func() { p.pass(far, near) })
	}
}

// pass copies with a delay. Delays do not add up, since many chunks are on their way at the same time.
func (p *proxy) pass(from, to net.Conn) {
	type chunk struct {
		due   time.Time
		bytes []byte
	}
	chunks := make(chan chunk, 1024)
	p.wg.Go(func() {
		for c := range chunks {
			time.Sleep(time.Until(c.due))
			if _, err := to.Write(c.bytes); err != nil {
				_ = from.Close()
			}
		}
		_ = to.Close()
	})
	defer close(chunks)
	for {
		buffer := make([]byte, 32<<10)
		n, err := from.Read(buffer)
		if n > 0 {
			chunks <- chunk{time.Now().Add(p.delay), buffer[:n]}
		}
		if err != nil {
			return
		}
	}
}
