package walk

import (
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
)

// metadata is the dynamic metadata of a request by namespace; nil: it is not known. So is that of a namespace under which there is nil.
type metadata map[string]*structpb.Struct

// write sets a value in a namespace.
func (j *journey) write(namespace, key string, value *structpb.Value) {
	own, has := j.metadata[namespace]
	if j.metadata == nil || has && own == nil {
		return
	}
	if !has {
		j.metadata[namespace] = &structpb.Struct{Fields: map[string]*structpb.Value{}}
	}
	j.metadata[namespace].Fields[key] = value
}

// forget notes that a filter may write metadata that is not known.
func (j *journey) forget(f envoy.HTTPFilter) {
	written, known := f.WritesMetadata(j.manager.routes)
	if !known {
		j.metadata = nil
	}
	for _, name := range written {
		if j.metadata != nil {
			j.metadata[name.Namespace] = nil
		}
	}
}

// fitsMetadata reports whether the metadata fits a matcher.
func (j *journey) fitsMetadata(m *matcherv3.MetadataMatcher) match.Overlap {
	return match.FitMetadata(m, j.metadata)
}
