package pod

import (
	"fmt"
	"math/big"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "workers-over-cpu",
	Severity: lint.Warning,
	Summary:  "more workers than the container may use processors",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/operations/cli#cmdoption-concurrency",
		"https://github.com/envoyproxy/envoy/issues/45410",
		limitDocs,
	},
	Run: each(func(p *lint.Pass, w workload) {
		line, _ := w.Command()
		limit, limitAt, ok := w.Limit("cpu")
		if !ok || !line.Certain() {
			return
		}
		workers, at, set := line.Number("--concurrency")
		_, given, _ := line.Flag("--concurrency")
		switch {
		case set && new(big.Rat).SetInt64(int64(workers-1)).Cmp(limit) >= 0 && workers > 1:
			p.Report(w.at(at), lint.Diagnostic{
				Severity: lint.Info,
				Message:  fmt.Sprintf("%d workers share a CPU limit of %s", workers, limitAt.Text()),
				Notes:    []string{"when they have used the container's share of a period (100 ms), the kernel stops all workers until the next one"},
				Help:     "write a --concurrency not above the limit",
				Related:  w.related(limitAt, "the limit"),
			})
		case !given && !line.Has("--cpuset-threads") && w.release(p.Target).Before("1.40"):
			p.Report(w.at(limitAt), lint.Diagnostic{
				Message: fmt.Sprintf("Envoy starts a worker for each processor of the node, and the CPU limit is %s", limitAt.Text()),
				Notes: []string{
					"versions before 1.40 do not look at the limit; when the workers have used the container's share of a period (100 ms), the kernel stops all of them until the next one",
					"each worker has its own connections to each endpoint",
				},
				Help: "set --concurrency in the args, or use Envoy 1.40",
			})
		}
	}),
})

// release returns the version of Envoy in the container: that in the tag of its image, or else the target.
func (w workload) release(target dataplane.Target) dataplane.Target {
	if version, _ := w.Image(); version != "" {
		target.Version = version
	}
	return target
}
