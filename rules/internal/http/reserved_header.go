package http

import (
	"fmt"

	mutationrulesv3 "github.com/envoyproxy/go-control-plane/envoy/config/common/mutation_rules/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "reserved-header",
	Severity: lint.Error,
	Summary:  "a connection manager sets a reserved header, or sets both append and append_action",
	Links: []string{
		"HeaderParser::configure (source/common/router/header_parser.cc)",
		"HeaderMutations::create (source/common/http/header_mutation.cc)",
	},
	Run: each(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		for i, mapper := range m.GetLocalReplyConfig().GetMappers() {
			for j, option := range mapper.GetHeadersToAdd() {
				checkOption(p, at.Field("local_reply_config").Item("mappers", i).Item("headers_to_add", j), option)
			}
		}
		for i, e := range m.GetEarlyHeaderMutationExtensions() {
			config, own := envoy.Content(at.Item("early_header_mutation_extensions", i).Field("typed_config"), e.GetTypedConfig())
			if config == nil || config.ProtoReflect().Descriptor().FullName() != earlyMutation {
				continue
			}
			mutations := config.ProtoReflect().Get(config.ProtoReflect().Descriptor().Fields().ByName("mutations")).List()
			for j := range mutations.Len() {
				if m, ok := mutations.Get(j).Message().Interface().(*mutationrulesv3.HeaderMutation); ok && m.GetAppend() != nil {
					checkOption(p, own.Item("mutations", j).Field("append"), m.GetAppend())
				}
			}
		}
	}),
})

const earlyMutation = "envoy.extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation"

func checkOption(p *lint.Pass, at lint.At, option *corev3.HeaderValueOption) {
	name := option.GetHeader().GetKey()
	if envoy.ReservedHeader(name) {
		help := "remove it"
		if name == ":status" {
			help = "use status_code of the mapper"
		}
		p.Reject(at.Field("header", "key"), lint.Rejection{
			Message:  fmt.Sprintf("the header %q cannot be set here", name),
			Help:     help,
			Upstream: ":-prefixed or host headers may not be modified",
		})
	}
	if envoy.AppendsTwice(option) {
		p.Reject(at.Field("append").Key(), lint.Rejection{
			Message:  fmt.Sprintf("append cannot be combined with append_action, but header %q has both", name),
			Help:     "remove append",
			Upstream: "Both append and append_action are set and it's not allowed",
			Related:  []lint.Related{lint.RelatedTo(at.Field("append_action"), "the append_action")},
		})
	}
}
