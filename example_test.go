package xdslint_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	resourcev3 "github.com/envoyproxy/go-control-plane/pkg/resource/v3"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/custom"
	"github.com/xdslint/xdslint/graph/load/gocp"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/plan"
	"github.com/xdslint/xdslint/rules"
)

const bootstrap = `
node: {id: edge-1, cluster: edge}
static_resources:
  clusters:
  - {name: backend, type: STATIC, connect_timeout: 0s}
`

// Lint files, folders or globs, and print what was found. xdslint.Paths("envoy.yaml", "configs/") reads them from disk.
func Example() {
	linter, err := xdslint.New(xdslint.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := linter.Lint(context.Background(), xdslint.Texts(map[string][]byte{"envoy.yaml": []byte(bootstrap)}))
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = report.Write(os.Stdout, "concise")
	fmt.Println("failed:", report.Failed())
	// Output:
	// envoy.yaml:5:52: error[schema/constraint]: connect_timeout must be greater than 0s
	// failed: true
}

// What a .xdslint.yaml says holds as it does for the command. Rules in CEL are linked in only by those who pass custom.Constraints.
func ExampleParseConfig() {
	config, err := xdslint.ParseConfig(".xdslint.yaml", []byte(`
fail-on: warning
ignores:
- {rule: schema/constraint, resource: cluster/backend, reason: the control plane sets it}
constraints:
- id: acme/cluster-name
  message: envoy.config.cluster.v3.Cluster
  expression: this.name.startsWith("acme-")
  text: the name of a cluster begins with acme-
  severity: warning
`), custom.Constraints(rules.All(), nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	linter, err := xdslint.New(xdslint.Options{Config: config})
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := linter.Lint(context.Background(), xdslint.Texts(map[string][]byte{"envoy.yaml": []byte(bootstrap)}))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range report.Diagnostics {
		fmt.Println(d.Severity, d.Rule.ID(), d.Resource.Name, d.Message)
	}
	fmt.Println("suppressed:", report.Suppressed, "failed:", report.Failed())
	// Output:
	// warning acme/cluster-name backend the name of a cluster begins with acme-
	// suppressed: 1 failed: true
}

// A control plane lints what it is about to push.
func ExampleSnapshots() {
	linter, err := xdslint.New(xdslint.Options{Targets: []string{"envoy:1.40"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	pushed, err := cachev3.NewSnapshot("1", map[resourcev3.Type][]types.Resource{
		resourcev3.ClusterType: {&clusterv3.Cluster{Name: "backend", LbPolicy: 77}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	snapshot, err := gocp.Snapshot(pushed)
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := linter.Lint(context.Background(), xdslint.Snapshots(snapshot))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range report.Diagnostics {
		fmt.Println(d.Severity, d.Rule.ID(), d.Message)
	}
	// Output:
	// error schema/constraint lb_policy is 77, must be a value that LbPolicy defines
}

// Fix applies fixes in memory; Write puts them on disk.
func ExampleLinter_Fix() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "envoy.yaml")
	if err := os.WriteFile(path, []byte("node: {id: 42, cluster: edge} # one of many\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	linter, err := xdslint.New(xdslint.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fixed, err := linter.Fix(context.Background(), xdslint.Paths(path), false)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := fixed.Write(); err != nil {
		fmt.Println(err)
		return
	}
	text, _ := os.ReadFile(path)
	fmt.Printf("%d fixed, %d left\n%s", fixed.Applied, len(fixed.After.Diagnostics), text)
	// Output:
	// 1 fixed, 0 left
	// node: {id: "42", cluster: edge} # one of many
}

// Ask whether Envoy would start with a bootstrap.
func ExampleLinter_Verdict() {
	linter, err := xdslint.New(xdslint.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	verdicts, err := linter.Verdict(context.Background(), xdslint.Texts(map[string][]byte{"envoy.yaml": []byte(bootstrap)}))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range verdicts {
		fmt.Println(v.Target, v.Verdict)
		for _, reason := range v.Reasons {
			fmt.Printf("%d:%d: %s\n", reason.Line, reason.Column, reason.Upstream)
		}
	}
	// Output:
	// envoy:1.40 reject
	// 5:52: Proto constraint validation failed (ClusterValidationError.ConnectTimeout: value must be greater than 0s)
}

// What a push breaks if all of it is sent at once, and the order that breaks nothing.
func ExampleLinter_Plan() {
	linter, err := xdslint.New(xdslint.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	side := func(cluster string) xdslint.Input {
		return xdslint.Texts(map[string][]byte{"xds.yaml": []byte(`
- {"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: ` + cluster + `}
- "@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
  name: shop
  virtual_hosts: [{name: all, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: ` + cluster + `}}]}]
`)})
	}
	options := xdslint.PlanOptions{Options: plan.Options{Push: lint.Push{Transport: lint.ADSDelta}}}
	outcome, err := linter.Plan(context.Background(), side("blue"), side("green"), options)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range outcome.Hazards.Diagnostics {
		fmt.Println(d.Severity, d.Rule.ID())
	}
	for i, phase := range outcome.Plan.Phases {
		fmt.Println("phase", i+1)
		for _, send := range phase.Send {
			for _, u := range send.Update {
				fmt.Println("  update", plan.API(send.Kind), u.Name)
			}
			for _, name := range send.Remove {
				fmt.Println("  remove", plan.API(send.Kind), name)
			}
		}
	}
	// Output:
	// error transition/delete-referenced-cluster
	// error transition/route-before-cluster
	// phase 1
	//   update CDS green
	// phase 2
	//   update RDS shop
	// phase 3
	//   remove CDS blue
}
