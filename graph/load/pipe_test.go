//go:build unix

package load

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// TestPipe: a pipe without a writer does not make a load wait; one with a writer is read to its end.
func TestPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := Paths(context.Background(), []string{pipe}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if why := in.Files[0].Why; why != emptyFile {
		t.Errorf("%q", why)
	}

	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		defer w.Close()
		for _, part := range []string{"static_resources:\n", "  clusters: [{name: a}]\n"} {
			_, _ = w.WriteString(part)
		}
	}()
	in, err = Paths(context.Background(), []string{filepath.Join("/dev/fd", strconv.Itoa(int(r.Fd())))}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if as := in.Files[0].As; as != "bootstrap" {
		t.Errorf("%+v", in.Files[0])
	}
}
