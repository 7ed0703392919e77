package pull

import (
	"bytes"
	"fmt"
	"slices"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/redact"
	"github.com/xdslint/xdslint/internal/syntax"
	"github.com/xdslint/xdslint/internal/tree"
)

// FileName returns the name of the file with the resources of a kind: see Files.
func FileName(kind graph.Kind) string { return string(kind) + "s.yaml" }

// Files returns a DiscoveryResponse in YAML for each kind, by FileName, without secrets. xdslint can read it, and so can Envoy as a
// path_config_source. If the type of an Any is not known, or its bytes cannot be decoded, only the type is kept and a fault is added.
func (r *Result) Files() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, set := range r.Sets {
		text, err := r.file(set)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", FileName(set.Kind), err)
		}
		files[FileName(set.Kind)] = text
	}
	return files, nil
}

func (r *Result) file(set Set) ([]byte, error) {
	response := &discoveryv3.DiscoveryResponse{VersionInfo: set.Version, TypeUrl: graph.TypeURL(set.Kind)}
	for _, one := range set.Resources {
		body, err := r.sent(one)
		if err != nil {
			return nil, err
		}
		response.Resources = append(response.Resources, body)
	}
	raw, err := r.json(response)
	if err != nil { // JSON cannot represent some value, such as NaN or a time out of range
		for i, body := range response.Resources {
			if _, err := r.json(body); err != nil {
				r.fault(fmt.Sprintf("%s %q is left out: %v", set.Kind, set.Resources[i].Name, err))
				response.Resources[i] = &anypb.Any{TypeUrl: body.GetTypeUrl()}
			}
		}
		if raw, err = r.json(response); err != nil {
			return nil, err
		}
	}
	docs, err := syntax.ParseJSON(&graph.SourceFile{Text: raw})
	if err != nil {
		return nil, err
	}
	redacted := redact.JSON(raw, docs[0], response.ProtoReflect().Descriptor().FullName(), r.types)
	docs, err = syntax.ParseJSON(&graph.SourceFile{Text: redacted})
	if err != nil {
		return nil, err
	}
	if len(set.Resources) == 0 { // without the list, the file's type could not be detected
		docs[0].Keys = append(docs[0].Keys, tree.Key{Name: "resources"})
		docs[0].Items = append(docs[0].Items, graph.TextNode{Kind: tree.List})
	}
	var out bytes.Buffer
	writeYAML(&out, docs[0])
	return out.Bytes(), nil
}

func (r *Result) json(m proto.Message) ([]byte, error) {
	return protojson.MarshalOptions{UseProtoNames: true, AllowPartial: true, Resolver: resolver{r.types}}.Marshal(m)
}

// sent is a resource as a server would send it, in a wrapper only if that adds something.
func (r *Result) sent(one Resource) (*anypb.Any, error) {
	body, name := r.readable(one.Body, 0), ""
	if m, err := r.unpack(body); err == nil {
		name = graph.NameOf(m.ProtoReflect())
	}
	if one.TTL == 0 && name == one.Name {
		return body, nil
	}
	wrapper := &discoveryv3.Resource{Name: one.Name, Resource: body}
	if one.TTL != 0 {
		wrapper.Ttl = durationpb.New(one.TTL)
	}
	return anypb.New(wrapper)
}

func (r *Result) unpack(body *anypb.Any) (proto.Message, error) {
	mt, err := r.types.FindMessageByName(decode.TypeName(body.GetTypeUrl()))
	if err != nil {
		return nil, err
	}
	m := mt.New().Interface()
	return m, proto.UnmarshalOptions{AllowPartial: true}.Unmarshal(body.GetValue(), m)
}

// maxDepth bounds how deep Anys may be nested. It is also xdslint's limit.
const maxDepth = 100

// readable returns an Any that can be written as JSON: contents that cannot be decoded are left out.
func (r *Result) readable(body *anypb.Any, depth int) *anypb.Any {
	m, err := r.unpack(body)
	if err != nil || depth > maxDepth {
		if len(body.GetValue()) > 0 {
			r.fault(fmt.Sprintf("the content of a %s is left out: the type is not known, or the bytes cannot be decoded",
				decode.TypeName(body.GetTypeUrl())))
		}
		return &anypb.Any{TypeUrl: body.GetTypeUrl()}
	}
	if !r.clean(m.ProtoReflect(), depth) {
		return body
	}
	raw, err := proto.MarshalOptions{AllowPartial: true, Deterministic: true}.Marshal(m)
	if err != nil {
		return &anypb.Any{TypeUrl: body.GetTypeUrl()}
	}
	return &anypb.Any{TypeUrl: body.GetTypeUrl(), Value: raw}
}

// clean makes the Anys in a message readable, and reports whether that changed anything.
func (r *Result) clean(m protoreflect.Message, depth int) (changed bool) {
	if len(m.GetUnknown()) > 0 {
		r.fault(fmt.Sprintf("fields of %s are left out: they are not known, since the server's API is newer", m.Descriptor().FullName()))
	}
	decode.EachMessage(m, func(inner protoreflect.Message, _ tree.Step) {
		if inner.Descriptor().FullName() != anyName {
			changed = r.clean(inner, depth) || changed
			return
		}
		url, value := inner.Descriptor().Fields().ByNumber(1), inner.Descriptor().Fields().ByNumber(2)
		before := &anypb.Any{TypeUrl: inner.Get(url).String(), Value: inner.Get(value).Bytes()}
		if before.GetTypeUrl() == "" {
			return
		}
		if after := r.readable(before, depth+1); after != before {
			inner.Set(value, protoreflect.ValueOfBytes(after.GetValue()))
			changed = true
		}
	})
	return changed
}

func (r *Result) fault(text string) {
	if !slices.Contains(r.Faults, text) {
		r.Faults = append(r.Faults, text)
	}
}

const anyName protoreflect.FullName = "google.protobuf.Any"

// resolver lets protojson write and read Anys. An unknown type is read as a message without fields. Any such message will do, since the type in
// the text is that of the Any.
type resolver struct{ types graph.Types }

func (r resolver) FindMessageByURL(url string) (protoreflect.MessageType, error) {
	return r.FindMessageByName(decode.TypeName(url))
}

func (r resolver) FindMessageByName(name protoreflect.FullName) (protoreflect.MessageType, error) {
	if mt, err := r.types.FindMessageByName(name); err == nil {
		return mt, nil
	}
	return (*corev3.AggregatedConfigSource)(nil).ProtoReflect().Type(), nil
}

func (resolver) FindExtensionByName(protoreflect.FullName) (protoreflect.ExtensionType, error) {
	return nil, protoregistry.NotFound
}

func (resolver) FindExtensionByNumber(protoreflect.FullName, protoreflect.FieldNumber) (protoreflect.ExtensionType, error) {
	return nil, protoregistry.NotFound
}
