package evidence

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// replace is a line that renews a certificate while Envoy runs.
type replace struct{ name, other string }

func (r *replace) run(ctx context.Context, w *world) error {
	if _, err := w.envoy(ctx); err != nil {
		return err
	}
	pair, err := w.authority.pair(r.other)
	if err != nil {
		return err
	}
	file := filepath.Join(w.dir, r.name)
	if _, err := os.Stat(file + ".crt"); err != nil {
		return fmt.Errorf("the example has no certificate %s", r.name)
	}
	for _, ext := range []string{".key", ".crt"} {
		if err := moveOver(file+ext, pair.file(ext)); err != nil {
			return err
		}
	}
	return nil
}

// moveOver replaces a file as Kubernetes does: Envoy only watches for files that are moved.
func moveOver(file string, content []byte) error {
	next := file + ".next"
	if err := os.WriteFile(next, content, 0o600); err != nil {
		return err
	}
	return os.Rename(next, file)
}
