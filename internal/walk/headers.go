package walk

import (
	"slices"
	"strings"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/internal/ascii"
)

// headers are the headers of a request or response in order, with names in lower case. The pseudo headers of HTTP/2 are among them.
type headers struct {
	list    []Header
	changed map[string]bool // by the configuration
}

// The pseudo headers, and others that Envoy acts on.
const (
	method         = ":method"
	path           = ":path"
	authority      = ":authority"
	scheme         = ":scheme"
	forwardedProto = "x-forwarded-proto"
	internalHeader = "x-envoy-internal"
	contentType    = "content-type"
)

// known returns the name under which Envoy keeps a header: host is :authority.
func known(name string) string {
	if name = ascii.Lower(name); name == "host" {
		return authority
	}
	return name
}

// get returns all values of a name with commas between them (HeaderUtility::getAllOfHeaderAsString).
func (h *headers) get(name string) (string, bool) {
	all := h.values(name)
	return strings.Join(all, ","), len(all) > 0
}

func (h *headers) value(name string) string {
	all, _ := h.get(name)
	return all
}

func (h *headers) has(name string) bool {
	_, ok := h.get(name)
	return ok
}

func (h *headers) values(name string) (all []string) {
	name = known(name)
	for _, each := range h.list {
		if each[0] == name {
			all = append(all, each[1])
		}
	}
	return all
}

func (h *headers) add(name, value string) { h.list = append(h.list, Header{known(name), value}) }

func (h *headers) set(name, value string) {
	name = known(name)
	for i, each := range h.list {
		if each[0] == name {
			h.list[i][1] = value
			rest := slices.DeleteFunc(h.list[i+1:], func(o Header) bool { return o[0] == name })
			h.list = h.list[:i+1+len(rest)]
			return
		}
	}
	h.add(name, value)
}

func (h *headers) remove(names ...string) {
	for _, name := range names {
		name = known(name)
		h.list = slices.DeleteFunc(h.list, func(o Header) bool { return o[0] == name })
	}
}

// change notes that the configuration changes a header.
func (h *headers) change(name string) {
	if h.changed == nil {
		h.changed = map[string]bool{}
	}
	h.changed[known(name)] = true
}

// changes returns the headers that the configuration added, with their values now, and those that it removed.
func (h *headers) changes(before *headers) (added map[string][]string, removed []string) {
	for name := range h.changed {
		now, then := h.values(name), before.values(name)
		switch {
		case slices.ContainsFunc(now, func(value string) bool { return strings.Contains(value, match.Unknown) }):
		case len(now) == 0 && len(then) > 0:
			removed = append(removed, name)
		case len(now) > 0 && !slices.Equal(now, then):
			if added == nil {
				added = map[string][]string{}
			}
			added[name] = now
		}
	}
	slices.Sort(removed)
	return added, removed
}

func (h *headers) clone() *headers { return &headers{list: slices.Clone(h.list)} }

// hasToken reports whether a list of tokens has one, in any case.
func hasToken(list, token string) bool {
	for each := range strings.SplitSeq(list, ",") {
		if strings.EqualFold(strings.TrimSpace(each), token) {
			return true
		}
	}
	return false
}

// inline are headers of requests of which Envoy keeps one entry: another value is appended after a comma (HeaderMapImpl::addCopy).
var inline = map[string]bool{}

func init() {
	for _, name := range strings.Fields(`x-forwarded-for x-forwarded-host x-forwarded-proto x-forwarded-port x-forwarded-client-cert user-agent te expect
		grpc-timeout x-client-trace-id x-envoy-internal x-envoy-original-path x-envoy-original-host accept accept-encoding authorization cache-control
		connection content-length content-type etag origin pragma referer upgrade via x-request-id`) {
		inline[name] = true
	}
}

// append adds a value to a header.
func (h *headers) append(name, value string) {
	name = known(name)
	before := h.values(name)
	switch {
	case !inline[name] || len(before) == 0:
		h.add(name, value)
	case before[0] == "":
		h.set(name, value)
	case value != "":
		h.set(name, before[0]+","+value)
	}
}
