package pull

import (
	"errors"
	"fmt"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
	"github.com/xdslint/xdslint/internal/tree"
)

// identify fills in the fields that every client sends. The features are those that Envoy always sends (LocalInfo, ClusterManagerImpl),
// since servers choose resources by them.
func identify(node *corev3.Node) *corev3.Node {
	full := &corev3.Node{}
	if node != nil {
		full = proto.Clone(node).(*corev3.Node)
	}
	if full.GetUserAgentName() == "" {
		full.UserAgentName = "xdslint"
	}
	if len(full.GetClientFeatures()) == 0 {
		full.ClientFeatures = []string{"envoy.lb.does_not_support_overprovisioning", "envoy.lrs.supports_send_all_clusters"}
	}
	return full
}

// ParseNode reads an envoy.config.core.v3.Node, or the node of a bootstrap, in YAML or JSON. Errors begin with name.
func ParseNode(name string, text []byte) (*corev3.Node, error) {
	docs, err := syntax.ParseYAML(&source.File{Name: name, Text: text})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(docs) == 0 || docs[0].Kind != tree.Map {
		return nil, fmt.Errorf("%s: this is not a node: write id, cluster, metadata and locality as fields of a map", name)
	}
	n := docs[0]
	if inner := n.Field("node"); inner != nil {
		n = inner
	}
	node := &corev3.Node{}
	d := decode.NewDecoder(types.Envoy)
	d.Decode(n, node)
	for _, p := range d.Problems {
		if !p.Lenient {
			return nil, fmt.Errorf("%s: %w", name, errors.New(p.Message))
		}
	}
	return node, nil
}
