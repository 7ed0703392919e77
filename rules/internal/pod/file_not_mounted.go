package pod

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/internal/kube"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "file-not-mounted",
	Severity: lint.Warning,
	Summary:  "a file is not among the keys of the ConfigMap or Secret that is mounted there",
	Links:    []string{"https://kubernetes.io/docs/concepts/storage/volumes/#configmap"},
	Run: each(func(p *lint.Pass, w workload) {
		line, _ := w.Command()
		if config, ok := line.Config(); ok {
			value, _, _ := line.Flag("-c", "--config-path")
			w.missing(config, func(m kube.Mount, d lint.Diagnostic) { p.Report(w.at(value.At), d) })
		}
		reported := map[string]bool{}
		eachFile(p, func(at lint.At, name string) {
			if reported[name] {
				return
			}
			w.missing(name, func(m kube.Mount, d lint.Diagnostic) {
				reported[name] = true
				d.Related = w.related(m.At.Field("mountPath"), "the mount")
				p.Report(at, d)
			})
		})
	}),
})

// missing calls report if a file is in a volume of which the input has all objects, and none of them has a key for it.
func (w workload) missing(name string, report func(kube.Mount, lint.Diagnostic)) {
	m, ok := w.Mount(name)
	if !ok || !path.IsAbs(name) || strings.Contains(name, "..") || len(m.Keys()) == 0 {
		return
	}
	var holders, keys []string
	for _, key := range m.Keys() {
		o, ok := w.Holder(key)
		if !ok || len(o.Data()) == 0 || slices.Contains(o.Data(), key.Key) {
			return // something else may fill an object without keys
		}
		holders = append(holders, strings.TrimPrefix(o.Kind(), "/")+" "+o.Name())
		keys = append(keys, o.Data()...)
	}
	report(m, lint.Diagnostic{
		Message: fmt.Sprintf("the container does not have the file %q: it is not in %s", name, words.And(holders)),
		Notes:   []string{"Envoy rejects a configuration that names a file that does not exist"},
		Help:    "its keys are " + words.Few(words.Quoted(keys), 10),
	})
}
