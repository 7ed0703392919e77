package schema

import (
	"fmt"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/fields"
	"github.com/xdslint/xdslint/internal/format"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "format-invalid",
	Family:   dataplane.Envoy,
	Severity: lint.Error,
	Summary:  "a format of an access log, a header or a local reply has an unknown command, invalid arguments or a bare %",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage#command-operators",
		"SubstitutionFormatParser::parse (source/common/formatter/substitution_formatter.cc)",
	},
	Run: lint.EachMatching(holdsFormat, checkFormats),
})

func holdsFormat(t dataplane.Target, md protoreflect.MessageDescriptor) bool {
	for i := range md.Fields().Len() {
		if format.Reads(t, md.Fields().Get(i).FullName()) {
			return true
		}
	}
	return false
}

// formatFields are the fields that some target reads as formats.
var formatFields = fields.Of(func(fd protoreflect.FieldDescriptor) bool {
	_, known := format.Fields[fd.FullName()]
	return known
})

func checkFormats(p *lint.Pass, at lint.At, m protoreflect.Message) {
	of, in := formatFields(m.Descriptor()), fields.In(m)
	var f *formats
	for i := range of {
		fd := &of[i]
		if !in.IsSet(fd) || !format.Reads(p.Target, fd.FullName()) {
			continue
		}
		if f == nil {
			if built, _ := envoy.Validated(p.Target.Extensions(), at.Place); !built {
				return
			}
			f = &formats{p, formattersOf(at.Place)}
		}
		field := string(fd.Name())
		switch {
		case fd.IsList():
			for i := range in.Len(fd) {
				f.message(at.Item(field, i), in.Item(fd, i))
			}
		case fd.Message() != nil:
			f.message(at.Field(field), in.Inner(fd))
		default:
			f.text(at.Field(field), in.Value(fd).String())
		}
	}
}

// ownCommands are the commands of the messages around a format: GenericProxyCommandParser (generic_proxy/access_log.cc), and those of
// the transform filter.
var ownCommands = map[protoreflect.FullName][]string{
	"envoy.extensions.filters.http.transform.v3.TransformConfig": {"REQUEST_BODY", "RESPONSE_BODY"},
	"envoy.extensions.filters.network.generic_proxy.v3.GenericProxy": {
		"GENERIC_RESPONSE_CODE", "HOST", "METHOD", "PATH", "PROTOCOL", "REQUEST_PROPERTY", "RESPONSE_PROPERTY",
	},
}

// formatters are the commands of extensions. Where there are none, every place has them.
var formatters = map[protoreflect.FullName][]string{
	"envoy.extensions.formatter.cel.v3.Cel":                           nil,
	"envoy.extensions.formatter.metadata.v3.Metadata":                 nil,
	"envoy.extensions.formatter.req_without_query.v3.ReqWithoutQuery": {"REQ_WITHOUT_QUERY"},
}

// formattersOf returns the commands that a format can use: those of the messages around it, and of the extensions that they name.
func formattersOf(place *graph.Place) (added format.Extensions) {
	if place.Resource.Kind == graph.Patch { // it can be for any of these messages
		for _, commands := range ownCommands {
			added.Commands = append(added.Commands, commands...)
		}
	}
	for ; place != nil; place = place.Parent {
		added.Commands = append(added.Commands, ownCommands[place.Message.Descriptor().FullName()]...)
		fd := place.Message.Descriptor().Fields().ByName("formatters")
		if fd == nil || !fd.IsList() {
			continue
		}
		list := place.Message.Get(fd).List()
		for i := range list.Len() {
			formatter, ok := list.Get(i).Message().Interface().(*corev3.TypedExtensionConfig)
			if !ok {
				added.Others = true
				continue
			}
			commands, known := formatters[decode.TypeName(formatter.GetTypedConfig().GetTypeUrl())]
			added.Commands = append(added.Commands, commands...)
			added.Others = added.Others || !known
		}
	}
	return added
}

// formats checks the texts of messages.
type formats struct {
	p     *lint.Pass
	added format.Extensions
}

func (f formats) message(at lint.At, m protoreflect.Message) {
	switch m := m.Interface().(type) {
	case *structpb.Struct:
		f.fields(at, m)
	case *corev3.HeaderValueOption:
		f.text(at.Field("header", "value"), format.Header(m.GetHeader().GetValue()))
	case *corev3.HeaderValue:
		f.text(at.Field("value"), format.Header(m.GetValue()))
	case *corev3.DataSource:
		f.text(at.Field("inline_string"), m.GetInlineString())
	default:
		f.telemetry(at, m.ProtoReflect())
	}
}

func (f formats) fields(at lint.At, s *structpb.Struct) {
	for key, value := range s.GetFields() {
		f.value(at.Field(key), value)
		for i, item := range value.GetListValue().GetValues() {
			f.value(at.Item(key, i), item)
		}
	}
}

func (f formats) value(at lint.At, value *structpb.Value) {
	f.text(at, value.GetStringValue())
	f.fields(at, value.GetStructValue())
}

// telemetry checks the texts in an AnyValue or a KeyValueList of OpenTelemetry.
func (f formats) telemetry(at lint.At, m protoreflect.Message) {
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		field := string(fd.Name())
		switch {
		case fd.IsMap():
		case fd.IsList() && fd.Message() != nil:
			for i := range v.List().Len() {
				f.telemetry(at.Item(field, i), v.List().Get(i).Message())
			}
		case fd.Message() != nil:
			f.telemetry(at.Field(field), v.Message())
		case fd.Name() == "string_value":
			f.text(at.Field(field), v.String())
		}
		return true
	})
}

func (f formats) text(at lint.At, text string) {
	e, is := format.Check(f.p.Target, text, f.added)
	if !is {
		return
	}
	d := lint.Rejection{Message: fmt.Sprintf("%%%s%% %s", e.Command, e.What), Upstream: e.Upstream}
	switch {
	case e.Command == "":
		d.Message, d.Help = "a percent sign does not begin a command", "write %% for a percent sign, and commands as %COMMAND(ARGUMENTS):LENGTH%"
	case e.Since != "":
		d.Message, d.Help = fmt.Sprintf("%s does not have the command %%%s%% yet", f.p.Target, e.Command), "Envoy has it since "+e.Since
	case e.Unknown:
		d.Message = fmt.Sprintf("%s does not have the command %%%s%%", f.p.Target, e.Command)
		if near := lint.Nearest(e.Command, format.Names(f.p.Target)); near != "" {
			d.Help = fmt.Sprintf("did you mean %%%s%%?", near)
		}
	}
	f.p.Reject(at, d)
}
