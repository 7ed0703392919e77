package pull

import (
	"bytes"
	"fmt"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/asjson"
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
	said := map[string]bool{} // of the first resource that it is about
	text, err := asjson.Writer{Types: r.types, Fault: func(item int, what string) {
		if !said[what] {
			said[what] = true
			r.Faults = append(r.Faults, fmt.Sprintf("%s %q: %s", set.Kind, set.Resources[item].Name, what))
		}
	}}.JSON(response)
	if err != nil {
		return nil, err
	}
	docs, err := syntax.ParseJSON(&graph.SourceFile{Text: text})
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

// sent is a resource as a server would send it, in a wrapper only if that adds something.
func (r *Result) sent(one Resource) (*anypb.Any, error) {
	name := ""
	if m, err := (asjson.Writer{Types: r.types}).Unpack(one.Body); err == nil {
		name = graph.NameOf(m.ProtoReflect())
	}
	if one.TTL == 0 && name == one.Name {
		return one.Body, nil
	}
	wrapper := &discoveryv3.Resource{Name: one.Name, Resource: one.Body}
	if one.TTL != 0 {
		wrapper.Ttl = durationpb.New(one.TTL)
	}
	return anypb.New(wrapper)
}
