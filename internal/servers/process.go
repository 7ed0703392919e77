package servers

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os/exec"
	"time"
)

// startAt starts a process, and waits until it listens to an address. When the process has ended, it calls a function.
func startAt(ctx context.Context, cmd *exec.Cmd, address string, within time.Duration, ended func()) error {
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		ended()
		return err
	}
	exit := make(chan error, 1)
	go func() {
		exit <- cmd.Wait()
		ended()
	}()
	for deadline := time.After(within); ; {
		if conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address); err == nil {
			return conn.Close()
		}
		select {
		case err := <-exit:
			return fmt.Errorf("%s ended: %w\n%s", cmd.Path, err, log.Bytes())
		case <-deadline:
			return fmt.Errorf("%s does not listen after %s", cmd.Path, within)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
