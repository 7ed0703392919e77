package format_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/format"
)

// TestCommands asks each Envoy about the commands that this package says it has, in one access log, and about a few that it says it lacks.
func TestCommands(t *testing.T) {
	for _, target := range targets() {
		t.Run(target.Version, func(t *testing.T) {
			t.Parallel()
			version := envoytest.Version(target.Version)
			envoytest.Need(t, version)
			var all []string
			for _, name := range format.Names(target) {
				all = append(all, "%"+name+examples[name]+"%")
			}
			agree(t, target, strings.Join(all, " "))
			for _, text := range []string{"%", "%%", "%req%", "%REQ(a b)%", "%REQ(a?b?c)%", "%REQ(:a)%", "%FOO%", "%PROTOCOL(x)%", "%START_TIME:5%", "%PATH(query)%", "%FILTER_STATE(a:FIELD)%", "%GRPC_STATUS(NAME)%", "%METADATA(LISTENER_FILTER_CHAIN:a)%", "%LISTENER_NAME%", "%SPAN_ID%", "%COALESCE%", "%REQUESTED_SERVER_NAME(SNI_FIRST:HOST)%", "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT(24)%", "%CEL(size(request.path) > 1)%", "%CEL(shorten(request.path))%", "%REQ_WITHOUT_QUERY(:path)%"} {
				agree(t, target, text)
			}
		})
	}
}

func targets() (all []dataplane.Target) {
	for _, target := range dataplane.All() {
		if target.Plane == "envoy" {
			all = append(all, target)
		}
	}
	return all
}

// examples are arguments of the commands that need some.
var examples = map[string]string{
	"CEL": "(request.path)", "TYPED_CEL": "(1 + 1)", "CLUSTER_METADATA": "(a)", "UPSTREAM_METADATA": "(a)", "DYNAMIC_METADATA": "(a:b)",
	"COALESCE": `({"operators": ["PROTOCOL"]})`, "COMMON_DURATION": "(DS_RX_BEG:DS_RX_END:us)", "ENVIRONMENT": "(HOME):5", "FILTER_STATE": "(a:FIELD:b)",
	"UPSTREAM_FILTER_STATE": "(a)", "METADATA": "(ROUTE:a)", "QUERY_PARAM": "(a)", "REQ": "(a?:b):5", "REQUEST_HEADER": "(a)", "RESP": "(a)",
	"RESPONSE_HEADER": "(a)", "RESPONSE_TRAILER": "(a)", "STREAM_INFO_REQ": "(a)", "TRAILER": "(a)", "PATH": "(NQ:ORIG)", "GRPC_STATUS": "(NUMBER)",
	"XFCC_VALUE": "(URI)",
}

// agree fails if Envoy rejects a format that Check accepts, or the opposite.
func agree(t *testing.T, target dataplane.Target, text string) {
	t.Helper()
	e, rejected := format.Check(target, text, format.Extensions{})
	verdict, err := envoytest.Version(target.Version).ValidateText(t.Context(), envoytest.AccessLogs+fmt.Sprintf(log, strings.ReplaceAll(text, "'", "''")), ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	if accepted := verdict.Outcome == envoytest.Accept; accepted == rejected {
		t.Errorf("%q: Envoy says %s %s, Check says %+v", text, verdict.Outcome, verdict.Message, e)
	}
}

const log = `          - name: log
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StdoutAccessLog
              log_format: {text_format_source: {inline_string: '%s'}}
`
