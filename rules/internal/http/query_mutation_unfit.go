package http

import (
	"google.golang.org/protobuf/types/known/structpb"

	headermutationv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/header_mutation/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "query-mutation-unfit",
	Severity: lint.Error,
	Summary:  "a mutation of query parameters does not say what to do, or its value is not a string",
	Links:    []string{"Mutations::Mutations (source/extensions/filters/http/header_mutation/header_mutation.cc)"},
	Run: eachConfig(func(p *lint.Pass, at lint.At, m *headermutationv3.Mutations) {
		for i, mutation := range m.GetQueryParameterMutations() {
			own, record := at.Item("query_parameter_mutations", i), mutation.GetAppend().GetRecord()
			switch {
			case mutation.GetAppend() == nil && mutation.GetRemove() == "":
				p.Reject(own, lint.Rejection{
					Message:  "the mutation neither appends nor removes a parameter",
					Help:     "add append, or remove",
					Upstream: "One of 'append'/'remove' must be specified.",
				})
			case mutation.GetAppend() == nil:
			case mutation.GetRemove() != "":
				p.Reject(own.Field("remove").Key(), lint.Rejection{
					Message:  "one mutation cannot both append and remove",
					Help:     "write two mutations",
					Upstream: "Only one of 'append'/'remove can be specified.",
				})
			case record == nil:
				p.Reject(own.Field("append"), lint.Rejection{
					Message:  "append does not have a record",
					Help:     "write append: {record: {key: …, value: …}}",
					Upstream: "No record specified for append mutation.",
				})
			case !isString(record.GetValue()):
				p.Reject(own.Field("append", "record", "value"), lint.Rejection{
					Message:  "the value of a query parameter is not a string",
					Help:     "put the value in quotes",
					Upstream: "Only string value is allowed for record value.",
				})
			}
		}
	}),
})

func isString(v *structpb.Value) bool {
	_, ok := v.GetKind().(*structpb.Value_StringValue)
	return ok
}
