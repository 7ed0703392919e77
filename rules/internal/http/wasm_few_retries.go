package http

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "wasm-few-retries",
	Severity: lint.Info,
	Summary:  "the code of a Wasm filter comes from a server, and Envoy asks for it only twice",
	Links: []string{
		"RemoteAsyncDataProvider::onFailure (source/extensions/common/wasm/remote_async_datasource.h)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/core/v3/base.proto#config-core-v3-remotedatasource",
	},
	Run: eachConfig(func(p *lint.Pass, at lint.At, m *corev3.AsyncDataSource) {
		if at.Place.Enclosing("envoy.extensions.filters.http.wasm.v3.Wasm") == nil || m.GetRemote() == nil || m.GetRemote().GetRetryPolicy() != nil {
			return
		}
		if at.Resource().Kind == graph.Patch {
			return // an agent may fetch the code before Envoy sees it
		}
		p.Report(at.Field("remote").Key(), lint.Diagnostic{
			Message: "if two requests for the code fail, Envoy does not try again until it gets another configuration",
			Notes:   []string{"meanwhile it answers all requests with 503; or it passes them without the filter, with fail_open: true"},
			Help:    "add a retry_policy with num_retries",
		})
	}),
})
