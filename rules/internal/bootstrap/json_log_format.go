package bootstrap

import (
	"strings"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "json-log-format",
	Severity: lint.Error,
	Summary:  "the JSON format of Envoy's application log contains %v or %_",
	Links:    []string{"Registry::setJsonLogFormat (source/common/common/logger.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, b *bootstrapv3.Bootstrap) {
		jsonFormat{p}.fields(at.Field("application_log_config", "log_format", "json_format"), b.GetApplicationLogConfig().GetLogFormat().GetJsonFormat())
	}),
})

type jsonFormat struct{ p *lint.Pass }

func (f jsonFormat) fields(at lint.At, s *structpb.Struct) {
	for key, value := range s.GetFields() {
		f.text(at.Field(key).Key(), key)
		f.value(at.Field(key), value)
		for i, item := range value.GetListValue().GetValues() {
			f.value(at.Item(key, i), item)
		}
	}
}

func (f jsonFormat) value(at lint.At, value *structpb.Value) {
	f.text(at, value.GetStringValue())
	f.fields(at, value.GetStructValue())
}

func (f jsonFormat) text(at lint.At, text string) {
	for _, flag := range []string{"%v", "%_"} {
		if strings.Contains(text, flag) {
			f.p.Reject(at, lint.Rejection{
				Message:  flag + " is not allowed in a JSON log format",
				Help:     "write %j for the message",
				Upstream: "setJsonLogFormat error: INVALID_ARGUMENT: Usage of " + flag + " is unavailable for JSON log formats",
			})
		}
	}
}
