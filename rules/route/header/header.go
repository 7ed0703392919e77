// Package header knows which headers Envoy lets a configuration set (source/common/router/header_parser.cc).
package header

import (
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/rules/ascii"
)

// Reserved is the opposite of HeaderUtility::isModifiableHeader, and of isRemovableHeader, which is the same.
func Reserved(name string) bool { return strings.HasPrefix(name, ":") || ascii.Lower(name) == "host" }

// AppendTwice tells whether a header has append_action and the older append. The default of append_action counts as not written.
func AppendTwice(o *corev3.HeaderValueOption) bool {
	//nolint:staticcheck // deprecated, and in use
	return o.GetAppend() != nil && o.GetAppendAction() != corev3.HeaderValueOption_APPEND_IF_EXISTS_OR_ADD
}
