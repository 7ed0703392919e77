package plan_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/plan"
)

// What a push breaks if all of it is sent at once, and the phases of one that breaks nothing. Snapshots of go-control-plane become graphs
// with gocp.Snapshot.
func Example() {
	changes := graph.Diff(yaml("old.yaml", oldYAML), yaml("new.yaml", newYAML))

	push := lint.Push{Transport: lint.ADSSotW, Versions: lint.PerType}
	for _, d := range plan.Hazards(context.Background(), changes, push, dataplane.Default()).Diagnostics {
		fmt.Println(d.Severity, d.Rule.ID(), d.Message)
	}

	made := plan.Make(changes, plan.Options{Push: push})
	for i, phase := range made.Phases {
		fmt.Println("phase", i+1)
		for _, send := range phase.Send {
			for _, u := range send.Update {
				fmt.Println("  update", plan.API(send.Kind), u.Name, u.Content) // u.Message is what to send
			}
			for _, name := range send.Remove {
				fmt.Println("  remove", plan.API(send.Kind), name)
			}
		}
		for _, wait := range phase.Wait {
			fmt.Println("  wait for", wait.For, plan.API(wait.Kind), wait.Names, wait.Timeout)
		}
	}
	hitless, reasons := made.Hitless(context.Background(), dataplane.Default())
	fmt.Println("hitless:", hitless, reasons)
	// Output:
	// error transition/route-before-cluster cluster "green" is used before Envoy has it: requests for any host
	// error transition/delete-referenced-cluster cluster "blue" is removed while still in use: requests for any host
	// phase 1
	//   update CDS green new
	//   wait for ack CDS [green] 30s
	// phase 2
	//   update RDS shop new
	//   wait for ack RDS [shop] 30s
	// phase 3
	//   remove CDS blue
	//   wait for ack CDS [blue] 30s
	// hitless: true []
}

func yaml(name, text string) *graph.Snapshot {
	input, err := load.Paths(context.Background(), []string{"-"}, load.Options{Stdin: strings.NewReader(text), StdinName: name})
	if err != nil {
		panic(err)
	}
	return input.Snapshots[0]
}

const oldYAML = `
- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: blue
- "@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
  name: shop
  virtual_hosts: [{name: all, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: blue}}]}]
`

const newYAML = `
- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: green
- "@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
  name: shop
  virtual_hosts: [{name: all, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: green}}]}]
`
