package transitions

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"golang.org/x/sys/unix"
)

// The ports of listeners are below those that the system uses for outgoing connections.
const (
	firstPort = 20000
	lastPort  = 32000
)

// heldPort is a port that only one bench has, also before an Envoy listens there. Envoys share a port without a word if both
// listeners have enable_reuse_port, and then each gets a part of the other's requests.
type heldPort struct {
	number uint32
	socket int
}

// holdPort finds a port that is not bound, and binds it. It begins at a random port, since several benches may run.
func holdPort() (*heldPort, error) {
	for range 1000 {
		port, err := bind(firstPort + rand.IntN(lastPort-firstPort))
		if !errors.Is(err, unix.EADDRINUSE) {
			return port, err
		}
	}
	return nil, errors.New("no port is free")
}

// bind binds a port alone, and only then allows Envoy to bind it too. The socket does not listen, so that no connection is established before Envoy listens.
func bind(number int) (*heldPort, error) {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("a socket for port %d: %w", number, err)
	}
	port := &heldPort{uint32(number), socket}
	err = unix.Bind(socket, &unix.SockaddrInet4{Port: number, Addr: [4]byte{127, 0, 0, 1}})
	for _, option := range []int{unix.SO_REUSEADDR, unix.SO_REUSEPORT} {
		if err == nil {
			err = unix.SetsockoptInt(socket, unix.SOL_SOCKET, option, 1)
		}
	}
	if err != nil {
		port.release()
		return nil, fmt.Errorf("port %d: %w", number, err)
	}
	return port, nil
}

func (p *heldPort) release() { _ = unix.Close(p.socket) }
