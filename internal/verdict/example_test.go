package verdict_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/internal/verdict"
	"github.com/xdslint/xdslint/rules"
)

// Ask whether Envoy would start with a bootstrap.
func ExampleJudge() {
	bootstrap := load.Options{Stdin: strings.NewReader(`
static_resources:
  clusters:
  - {name: backend, type: STATIC, connect_timeout: 0s}
`)}
	verdicts, err := verdict.Judge(context.Background(), "-", []dataplane.Target{dataplane.Default()}, rules.All(), bootstrap)
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
	// 4:52: Proto constraint validation failed (ClusterValidationError.ConnectTimeout: value must be greater than 0s)
}
