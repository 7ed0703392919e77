package recorder

import (
	"bytes"
	"io"
	"net"
	"sync"
	"time"
)

// split parts the connections of a listener: those that speak HTTP/2, as gRPC does, and those of HTTP/1.1, for REST.
func split(l net.Listener) (http2, http1 net.Listener) {
	two, one := newPart(l), newPart(l)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				two.end(err)
				one.end(err)
				return
			}
			go func() { // what a client sends first can take its time
				first := make([]byte, len(preface))
				_ = conn.SetReadDeadline(time.Now().Add(firstBytes)) // if that fails, so does reading
				n, err := io.ReadFull(conn, first)
				_ = conn.SetReadDeadline(time.Time{})
				sniffed := &sniffed{conn, io.MultiReader(bytes.NewReader(first[:n]), conn)}
				switch {
				case err != nil:
					_ = conn.Close() // it has sent nothing
				case string(first) == preface:
					two.give(sniffed)
				default:
					one.give(sniffed)
				}
			}()
		}
	}()
	return two, one
}

const (
	preface    = "PRI" // that of HTTP/2 begins so, and no method of HTTP/1.1
	firstBytes = 30 * time.Second
)

// sniffed is a connection of which the first bytes have been read.
type sniffed struct {
	net.Conn
	in io.Reader
}

func (s *sniffed) Read(to []byte) (int, error) { return s.in.Read(to) }

// part is a listener that gets some of the connections of another one.
type part struct {
	net.Listener
	conns chan net.Conn
	ended chan struct{}
	once  sync.Once
	err   error
}

func newPart(l net.Listener) *part {
	return &part{Listener: l, conns: make(chan net.Conn), ended: make(chan struct{})}
}

func (p *part) give(conn net.Conn) {
	select {
	case p.conns <- conn:
	case <-p.ended:
		_ = conn.Close() // no one accepts it any longer
	}
}

func (p *part) end(err error) {
	p.once.Do(func() {
		p.err = err
		close(p.ended)
	})
}

// Accept implements net.Listener.
func (p *part) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.ended:
		return nil, p.err
	}
}
