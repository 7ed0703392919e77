package reference

import (
	"io"
	"net"
)

// Relay passes connections to a listener on to another address, as plain TCP, until the listener is closed.
func Relay(l net.Listener, address string) {
	for {
		down, err := l.Accept()
		if err != nil {
			return // it is closed
		}
		up, err := net.Dial("tcp", address)
		if err != nil {
			_ = down.Close() // the client reports it
			continue
		}
		pipe := func(to, from net.Conn) {
			_, _ = io.Copy(to, from) // until one of them closes
			_ = to.Close()
		}
		go pipe(up, down)
		go pipe(down, up)
	}
}
