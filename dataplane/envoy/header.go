package envoy

import (
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/internal/ascii"
)

// ReservedHeader is the opposite of HeaderUtility::isModifiableHeader, and of isRemovableHeader, which is the same.
func ReservedHeader(name string) bool {
	return strings.HasPrefix(name, ":") || ascii.Lower(name) == "host"
}

// AppendsTwice tells whether a header has append_action and the older append. The default of append_action counts as not written.
func AppendsTwice(o *corev3.HeaderValueOption) bool {
	//nolint:staticcheck // deprecated, and in use
	return o.GetAppend() != nil && o.GetAppendAction() != corev3.HeaderValueOption_APPEND_IF_EXISTS_OR_ADD
}
