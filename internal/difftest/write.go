package difftest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// write shrinks one case of each disagreement and writes it to a folder, from which it removes the cases of earlier
// runs.
func (r *Report) write(ctx context.Context, j judges, dir string) error {
	if err := clean(dir); err != nil {
		return err
	}
	return parallel(ctx, len(r.groups), func(ctx context.Context, i int) error {
		g := r.groups[i]
		c := g.cases[0]
		if err := shrink(ctx, j, c); err != nil {
			return err
		}
		g.file = filepath.Join(dir, fmt.Sprintf("%s-%d-%s.yaml", g.outcome, i+1, slug(g.message)))
		return save(g.file, c.file())
	})
}

func save(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// clean removes the cases of an earlier run, and no other files.
func clean(dir string) error {
	for _, o := range []outcome{miss, falseReject} {
		old, err := filepath.Glob(filepath.Join(dir, string(o)+"-*.yaml"))
		if err != nil {
			return err
		}
		for _, path := range old {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// file returns the text of a shrunk case, after comments with both verdicts.
func (c *Case) file() string {
	says := "xdslint accepts; Envoy: " + c.Envoy.String()
	if len(c.Reasons) > 0 {
		says = fmt.Sprintf("Envoy accepts; xdslint: %s: %s (%s)", c.Reasons[0].Rule, c.Reasons[0].Message, c.Reasons[0].Field)
	}
	return fmt.Sprintf("# %s\n# %s\n%s", strings.Join(strings.Fields(says), " "), c, c.root.yaml())
}
