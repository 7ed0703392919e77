package load

import (
	"bytes"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/kube"
	"github.com/xdslint/xdslint/internal/tree"
)

// overlayOf returns the value of --config-yaml on the command line of a container. alone: it is the whole bootstrap.
func overlayOf(c kube.Container) (yaml kube.Word, alone bool) {
	line, _ := c.Command()
	yaml, _, _ = line.Flag("--config-yaml")
	_, file, _ := line.Flag("-c", "--config-path")
	return yaml, !file && yaml.Text != "" && line.Certain()
}

// onCommandLine returns the bootstrap that is on the command line of a container and nowhere else, or nil.
func (l *loader) onCommandLine(o *object, c kube.Container) *booting {
	yaml, alone := overlayOf(c)
	if !alone {
		return nil
	}
	in := l.argument(o, yaml)
	if in == nil {
		return nil
	}
	o.texts.inputs = append(o.texts.inputs, in)
	o.in.takes(o)
	return newBooting(in)
}

// overlay gives the bootstraps what the command lines of their containers merge over them. If the containers of a bootstrap have different ones, it
// stays as it is.
func (l *loader) overlay(runs []*run) {
	of := map[*input][]*run{}
	for _, r := range runs {
		if _, alone := overlayOf(*r.container); !alone {
			of[r.in] = append(of[r.in], r)
		}
	}
	for in, all := range of {
		first, _ := overlayOf(*all[0].container)
		differs := func(r *run) bool {
			other, _ := overlayOf(*r.container)
			return other.Text != first.Text
		}
		if first.Text != "" && !slices.ContainsFunc(all, differs) {
			in.over = l.argument(all[0].workload, first)
		}
	}
}

// argument reads YAML on a command line. What it holds is in the text of the object. It returns nil if that is not a map, or not known: Kubernetes or a
// shell replaces variables in it.
func (l *loader) argument(o *object, yaml kube.Word) *input {
	if o.texts == nil {
		o.texts = l.within()
	}
	in := o.text(yaml.At.Path(), "--config-yaml", yaml.At.Node(), []byte(yaml.Text), false)
	if len(in.docs) == 0 || in.docs[0].Kind != tree.Map || l.varies(in) {
		return nil
	}
	in.as = bootstrap
	return in
}

// varies reports whether a bootstrap has variables where no text can be. In a text, they do not matter.
func (l *loader) varies(in *input) bool {
	message, err := l.types.FindMessageByName(bootstrapName)
	if err != nil || !bytes.Contains(in.text, []byte("$")) {
		return false
	}
	d := decode.NewDecoder(l.types)
	d.Format = in.format.decoder()
	d.Decode(in.docs[0], message.New().Interface())
	return slices.ContainsFunc(d.Problems, func(p graph.Problem) bool { return p.Node != nil && strings.Contains(p.Node.Text, "$") })
}
