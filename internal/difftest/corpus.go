package difftest

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/explain"
	"github.com/xdslint/xdslint/testdata"
)

//go:embed seeds/*.yaml
var ownSeeds embed.FS

// seed is a bootstrap that both Envoy and xdslint accept.
type seed struct {
	name string
	root *value
	rich bool // not one of the small examples of a rule
}

type corpus struct{ seeds []seed }

// loadCorpus gathers the seeds of this package, the good examples of all rules, and the files of a folder.
func loadCorpus(folder string) (*corpus, error) {
	c := &corpus{}
	own, _ := fs.Sub(ownSeeds, "seeds")
	if err := c.addFiles(own); err != nil {
		return nil, err
	}
	if err := c.addExamples(); err != nil {
		return nil, err
	}
	if folder != "" {
		if err := c.addFiles(os.DirFS(folder)); err != nil {
			return nil, fmt.Errorf("reading %s: %w", folder, err)
		}
	}
	return c, nil
}

func (c *corpus) addFiles(dir fs.FS) error {
	return fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch path.Ext(name) {
		case ".yaml", ".yml", ".json":
			text, err := fs.ReadFile(dir, name)
			if err != nil {
				return err
			}
			c.add(name, text, true)
		}
		return nil
	})
}

// addExamples adds the good examples of rules. It leaves out examples of several files, since Envoy reads only one, and
// those for another target.
func (c *corpus) addExamples() error {
	return fs.WalkDir(testdata.Rules, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".txtar" {
			return err
		}
		text, err := fs.ReadFile(testdata.Rules, name)
		if err != nil {
			return err
		}
		for _, file := range explain.ParseArchive(text).Files {
			elsewhere := strings.Contains(string(text), "\n"+file.Name+": target ")
			if strings.HasPrefix(file.Name, "good") && !strings.Contains(file.Name, "/") && !elsewhere {
				rule := strings.TrimPrefix(strings.TrimSuffix(name, ".txtar"), "rules/")
				c.add(rule+"/"+file.Name, file.Data, false)
			}
		}
		return nil
	})
}

// add adds a file if it is a bootstrap with something to mutate.
func (c *corpus) add(name string, text []byte, rich bool) {
	if root := parse(text); root != nil && root.get("static_resources") != nil {
		c.seeds = append(c.seeds, seed{name, root, rich})
	}
}

// keepAccepted drops and reports the seeds that Envoy or xdslint rejects.
func (c *corpus) keepAccepted(ctx context.Context, j judges) (skipped []string, err error) {
	answers := make([]Answer, len(c.seeds))
	err = parallel(ctx, len(c.seeds), func(ctx context.Context, i int) (err error) {
		answers[i], err = j.ask(ctx, c.seeds[i].root)
		return err
	})
	if err != nil {
		return nil, err
	}
	var kept []seed
	for i, a := range answers {
		switch {
		case a.Envoy.Outcome != envoytest.Accept:
			skipped = append(skipped, fmt.Sprintf("%s: Envoy: %s", c.seeds[i].name, a.Envoy))
		case len(a.Reasons) > 0:
			skipped = append(skipped, fmt.Sprintf("%s: xdslint: %s: %s", c.seeds[i].name, a.Reasons[0].Rule, a.Reasons[0].Message))
		default:
			kept = append(kept, c.seeds[i])
		}
	}
	c.seeds = kept
	if len(kept) == 0 {
		return nil, fmt.Errorf("no bootstrap that both accept: %s", strings.Join(skipped, "; "))
	}
	return skipped, nil
}
