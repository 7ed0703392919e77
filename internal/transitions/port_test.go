package transitions

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A held port takes no connection, and can be bound by an Envoy and by no other bench, whether its listener has enable_reuse_port or not.
func TestHoldPort(t *testing.T) {
	port, err := holdPort()
	if err != nil {
		t.Fatal(err)
	}
	defer port.release()
	address := fmt.Sprintf("127.0.0.1:%d", port.number)
	if _, err := net.Dial("tcp", address); !errors.Is(err, unix.ECONNREFUSED) {
		t.Errorf("a connection to a held port: %v", err)
	}
	for _, reuse := range []bool{false, true} {
		t.Run(fmt.Sprintf("enable_reuse_port %t", reuse), func(t *testing.T) {
			listener, err := listenAs(t.Context(), address, reuse)
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			if _, err := net.Dial("tcp", address); err != nil {
				t.Error(err)
			}
			if _, err := bind(int(port.number)); !errors.Is(err, unix.EADDRINUSE) {
				t.Errorf("the port can be held twice: %v", err)
			}
		})
	}
	if _, err := bind(int(port.number)); !errors.Is(err, unix.EADDRINUSE) {
		t.Errorf("the port can be held twice: %v", err)
	}
}

// listenAs listens as Envoy does, which always sets SO_REUSEADDR, as Go does.
func listenAs(ctx context.Context, address string, reusePort bool) (net.Listener, error) {
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		if !reusePort {
			return nil
		}
		control := c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) })
		return errors.Join(control, err)
	}}
	return config.Listen(ctx, "tcp", address)
}
