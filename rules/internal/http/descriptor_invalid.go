package http

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	extractionv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/grpc_field_extraction/v3"
	reversev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/grpc_json_reverse_transcoder/v3"
	transcoderv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/grpc_json_transcoder/v3"
	scrubberv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/proto_api_scrubber/v3"
	messagev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/proto_message_extraction/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/read"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "descriptor-invalid",
	Severity: lint.Error,
	Summary:  "the descriptor of a gRPC filter is not a FileDescriptorSet, or lacks a service or a method",
	Links: []string{
		"JsonTranscoderConfig::JsonTranscoderConfig (source/extensions/filters/http/grpc_json_transcoder/json_transcoder_filter.cc)",
		"FilterConfig::initDescriptorPool (source/extensions/filters/http/grpc_field_extraction/filter_config.cc)",
	},
	Run: read.Each(read.Of(transcoder), read.Of(func(p *lint.Pass, at lint.At, m *extractionv3.GrpcFieldExtractionConfig) {
		if m.GetDescriptorSet() == nil {
			return // breaks a constraint
		}
		checkDescriptor(p, at, "descriptor_set", m.GetDescriptorSet(), slices.Sorted(maps.Keys(m.GetExtractionsByMethod())), "extractions_by_method")
	}), read.Of(func(p *lint.Pass, at lint.At, m *messagev3.ProtoMessageExtractionConfig) {
		checkDescriptor(p, at, "data_source", m.GetDataSource(), slices.Sorted(maps.Keys(m.GetExtractionByMethod())), "extraction_by_method")
	}), read.Of(func(p *lint.Pass, at lint.At, m *scrubberv3.ProtoApiScrubberConfig) {
		checkDescriptor(p, at.Field("descriptor_set"), "data_source", m.GetDescriptorSet().GetDataSource(), nil, "")
		for _, name := range slices.Sorted(maps.Keys(m.GetRestrictions().GetMethodRestrictions())) {
			scrubbedMethod(p, at.Field("restrictions").Entry("method_restrictions", name), name)
		}
	}), read.Of(reverseTranscoder)),
})

const makeDescriptor = "write what `protoc --include_imports --descriptor_set_out` makes, in base64"

func transcoder(p *lint.Pass, at lint.At, m *transcoderv3.GrpcJsonTranscoder) {
	inline, ok := m.GetDescriptorSet().(*transcoderv3.GrpcJsonTranscoder_ProtoDescriptorBin)
	if !ok {
		return
	}
	var set descriptorpb.FileDescriptorSet
	if proto.Unmarshal(inline.ProtoDescriptorBin, &set) != nil {
		p.Reject(at.Field("proto_descriptor_bin"), lint.Rejection{
			Message:  "the bytes are not a FileDescriptorSet",
			Help:     makeDescriptor,
			Upstream: "transcoding_filter: Unable to parse proto descriptor",
		})
		return
	}
	services := map[string]bool{}
	for _, file := range set.GetFile() {
		for _, service := range file.GetService() {
			services[file.GetPackage()+"."+service.GetName()] = true
		}
	}
	for i, name := range m.GetServices() {
		if !services[name] && !services["."+name] {
			p.Reject(at.Item("services", i), lint.Rejection{
				Message:  "the descriptor does not have the service " + name,
				Help:     "write the package and the name of a service, as in package.Service",
				Upstream: "transcoding_filter: Could not find '" + name + "' in the proto descriptor",
			})
		}
	}
}

func reverseTranscoder(p *lint.Pass, at lint.At, m *reversev3.GrpcJsonReverseTranscoder) {
	switch {
	case m.GetDescriptorPath() != "":
	case len(m.GetDescriptorBinary()) == 0:
		p.Reject(at, lint.Rejection{
			Message:  "the filter does not have a descriptor",
			Help:     "add descriptor_path or descriptor_binary",
			Upstream: "Descriptor set not set",
		})
	case proto.Unmarshal(m.GetDescriptorBinary(), &descriptorpb.FileDescriptorSet{}) != nil:
		p.Reject(at.Field("descriptor_binary"), lint.Rejection{
			Message:  "the bytes are not a FileDescriptorSet",
			Help:     makeDescriptor,
			Upstream: "Unable to parse proto descriptor binary",
		})
	}
}

// scrubbedMethod checks the name of a method (ProtoApiScrubberFilterConfig::validateMethodName).
func scrubbedMethod(p *lint.Pass, at lint.At, name string) {
	parts := strings.Split(name, "/")
	if len(parts) != 3 || parts[0] != "" || parts[1] == "" || parts[2] == "" || strings.Contains(name, "*") {
		p.Reject(at.Key(), lint.Rejection{
			Message:  fmt.Sprintf("%q is not the path of a method", name),
			Help:     "write /package.Service/Method",
			Upstream: fmt.Sprintf("Invalid method name: '%s'.", name),
		})
	}
}

// checkDescriptor reports a descriptor that Envoy cannot read, and methods that are not in it. Envoy takes it only from a file or as bytes.
func checkDescriptor(p *lint.Pass, at lint.At, field string, source *corev3.DataSource, methods []string, byMethod string) {
	own := at.Field(field)
	unsupported := func(at lint.At, message string, number int) {
		p.Reject(at, lint.Rejection{
			Message:  message,
			Help:     "write filename or inline_bytes",
			Upstream: fmt.Sprintf("DataSource case `%d` for configuring `descriptor_set`", number),
		})
	}
	switch s := source.GetSpecifier().(type) {
	case nil:
		if source == nil {
			unsupported(at, "the filter does not have a descriptor", 0)
		}
		return // else, it breaks a constraint
	case *corev3.DataSource_InlineString:
		unsupported(own.Field("inline_string").Key(), "a descriptor cannot be an inline_string", 3)
		return
	case *corev3.DataSource_EnvironmentVariable:
		unsupported(own.Field("environment_variable").Key(), "a descriptor cannot come from the environment", 4)
		return
	case *corev3.DataSource_InlineBytes:
		own = own.Field("inline_bytes")
	case *corev3.DataSource_Filename:
		own = own.Field("filename")
		if f := at.Resource().Files[s.Filename]; f != nil && f.Missing != "" {
			p.Reject(own, lint.Rejection{
				Message:  fmt.Sprintf("the file %q cannot be read: %s", s.Filename, f.Missing),
				Help:     "write the path that the file has where the proxy runs, or put it below the folder that --root names",
				Upstream: "parse proto descriptor from",
			})
			return
		}
	}
	data, ok := envoy.Data(at, source)
	if !ok {
		return
	}
	var set descriptorpb.FileDescriptorSet
	if proto.Unmarshal(data, &set) != nil {
		p.Reject(own, lint.Rejection{
			Message:  "the bytes are not a FileDescriptorSet",
			Help:     makeDescriptor,
			Upstream: "parse proto descriptor from",
		})
		return
	}
	for _, name := range methods {
		if !hasMethod(&set, name) {
			p.Reject(at.Entry(byMethod, name).Key(), lint.Rejection{
				Message:  "the descriptor does not have the method " + name,
				Help:     "write the package, the service and the name of a method, as in package.Service.Method",
				Upstream: "couldn't find the gRPC method `" + name + "` defined in the proto descriptor",
			})
		}
	}
}

func hasMethod(set *descriptorpb.FileDescriptorSet, name string) bool {
	for _, file := range set.GetFile() {
		for _, service := range file.GetService() {
			for _, method := range service.GetMethod() {
				if strings.TrimPrefix(file.GetPackage()+"."+service.GetName()+"."+method.GetName(), ".") == name {
					return true
				}
			}
		}
	}
	return false
}
