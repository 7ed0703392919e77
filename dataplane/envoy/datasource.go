package envoy

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/graph"
)

// redacted is what Envoy's admin interface shows instead of a secret.
const redacted = "[redacted]"

// Data returns what a data source of a place holds, and whether that is known (DataSource::read in source/common/config/datasource.cc). It is
// not known of environment variables, of files that were not read, and of what an output of Envoy hides.
func Data(at graph.At, s *corev3.DataSource) (data []byte, ok bool) {
	switch from := s.GetSpecifier().(type) {
	case *corev3.DataSource_InlineBytes:
		data, ok = from.InlineBytes, true
	case *corev3.DataSource_InlineString:
		data, ok = []byte(from.InlineString), true
	case *corev3.DataSource_Filename:
		f := at.Resource().Files[from.Filename]
		if f == nil || f.Missing != "" {
			return nil, false
		}
		data, ok = f.Data, true
	}
	return data, ok && string(data) != redacted
}
