package envoy

import (
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/internal/ascii"
)

// ReservedHeader reports whether Envoy does not let a header be modified or removed. It is the opposite of
// HeaderUtility::isModifiableHeader and of isRemovableHeader, which are the same.
func ReservedHeader(name string) bool {
	return strings.HasPrefix(name, ":") || ascii.Lower(name) == "host"
}

// AppendsTwice reports whether a header sets both append_action and the deprecated append. The default of append_action counts as unset.
func AppendsTwice(o *corev3.HeaderValueOption) bool {
	//nolint:staticcheck // deprecated, and in use
	return o.GetAppend() != nil && o.GetAppendAction() != corev3.HeaderValueOption_APPEND_IF_EXISTS_OR_ADD
}
