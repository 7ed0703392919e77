package route

import (
	"fmt"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "header-precedence",
	Severity: lint.Warning,
	Summary:  "a route sets a header, and its virtual host or route table overwrites it",
	Links: []string{
		"RouteEntryImplBase::finalizeRequestHeaders (source/common/router/config_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/route/v3/route.proto#config-route-v3-routeconfiguration",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *routev3.RouteConfiguration) {
		if _, ok := tableOf(p, at); !ok || m.GetMostSpecificHeaderMutationsWins() {
			return
		}
		table := headerLevel{at, m, nil}
		for i, host := range m.GetVirtualHosts() {
			own := headerLevel{at.Item("virtual_hosts", i), host, &table}
			own.check(p)
			for j, r := range host.GetRoutes() {
				headerLevel{own.at.Item("routes", j), r, &own}.check(p)
			}
		}
	}),
})

// headerLevel is a message that adds headers, inside of another one that does so after it.
type headerLevel struct {
	at     lint.At
	adds   headerAdder
	around *headerLevel
}

type headerAdder interface {
	GetRequestHeadersToAdd() []*corev3.HeaderValueOption
	GetResponseHeadersToAdd() []*corev3.HeaderValueOption
}

// check reports the headers of the level that one around it overwrites.
func (l headerLevel) check(p *lint.Pass) {
	for _, field := range []string{"request_headers_to_add", "response_headers_to_add"} {
		for i, option := range l.options(field) {
			for outer := l.around; outer != nil; outer = outer.around {
				if j := outer.overwrites(field, option); j >= 0 {
					p.Report(l.at.Item(field, i).Field("header", "value"), lint.Diagnostic{
						Message: fmt.Sprintf("this value of %s is overwritten", option.GetHeader().GetKey()),
						Notes:   []string{"Envoy applies the headers of the route first, then those of the virtual host, then those of the table: the last one wins"},
						Help:    "set most_specific_header_mutations_wins: true in the route table, or keep the header in one place",
						Related: []lint.Related{lint.RelatedTo(outer.at.Item(field, j), "this one wins")},
					})
					break
				}
			}
		}
	}
}

func (l headerLevel) options(field string) []*corev3.HeaderValueOption {
	if field == "request_headers_to_add" {
		return l.adds.GetRequestHeadersToAdd()
	}
	return l.adds.GetResponseHeadersToAdd()
}

// overwrites returns the index of the header that overwrites another one by a different value, or -1.
func (l headerLevel) overwrites(field string, option *corev3.HeaderValueOption) int {
	for i, o := range l.options(field) {
		if strings.EqualFold(o.GetHeader().GetKey(), option.GetHeader().GetKey()) && o.GetHeader().GetValue() != option.GetHeader().GetValue() && replaces(o) {
			return i
		}
	}
	return -1
}

// replaces reports whether a header replaces the values that a message already has.
func replaces(o *corev3.HeaderValueOption) bool {
	switch o.GetAppendAction() {
	case corev3.HeaderValueOption_OVERWRITE_IF_EXISTS, corev3.HeaderValueOption_OVERWRITE_IF_EXISTS_OR_ADD:
		return o.GetAppend() == nil
	case corev3.HeaderValueOption_APPEND_IF_EXISTS_OR_ADD:
		return o.GetAppend() != nil && !o.GetAppend().GetValue()
	}
	return false
}
