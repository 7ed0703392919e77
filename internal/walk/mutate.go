package walk

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
)

// mutation is a part of the configuration that adds and removes headers.
type mutation interface {
	GetRequestHeadersToAdd() []*corev3.HeaderValueOption
	GetRequestHeadersToRemove() []string
	GetResponseHeadersToAdd() []*corev3.HeaderValueOption
	GetResponseHeadersToRemove() []string
}

// mutations returns the parts that change headers, in Envoy's order: a weighted cluster first, then from the route outwards or the other way round.
func (j *journey) mutations() (all []mutation) {
	l := j.level
	if l != nil && l.Cluster != nil {
		all = append(all, l.Cluster)
	}
	var nested []mutation
	if l != nil {
		nested = []mutation{l.Route, l.Host, l.Table}
		if l.Table.GetMostSpecificHeaderMutationsWins() {
			nested = []mutation{l.Table, l.Host, l.Route}
		}
	}
	return append(all, nested...)
}

// addition is a header that is added later, after all values are computed.
type addition struct{ name, value string }

// evaluate follows HeaderParser::evaluateHeaders: what is removed, then what is overwritten, then what is added. doubted notes a value that is not
// known.
func (j *journey) evaluate(h *headers, add []*corev3.HeaderValueOption, remove []string, doubted func(name, why string)) {
	for _, name := range remove {
		h.change(name)
		h.remove(name)
	}
	var overwritten, added []addition
	for _, o := range add {
		name := o.GetHeader().GetKey()
		value, why := j.format(o.GetHeader().GetValue(), h)
		if why != "" {
			doubted(known(name), why)
		}
		if value == "" && why == "" && !o.GetKeepEmptyValue() {
			continue
		}
		each := addition{name, value}
		switch actionOf(o) {
		case corev3.HeaderValueOption_ADD_IF_ABSENT:
			if !h.has(name) {
				added = append(added, each)
			}
		case corev3.HeaderValueOption_OVERWRITE_IF_EXISTS:
			if h.has(name) {
				overwritten = append(overwritten, each)
			}
		case corev3.HeaderValueOption_OVERWRITE_IF_EXISTS_OR_ADD:
			overwritten = append(overwritten, each)
		default:
			added = append(added, each)
		}
	}
	for _, each := range overwritten {
		h.change(each.name)
		h.set(each.name, each.value)
	}
	for _, each := range added {
		h.change(each.name)
		h.append(each.name, each.value)
	}
}

// actionOf returns what is done with a header that exists.
func actionOf(o *corev3.HeaderValueOption) corev3.HeaderValueOption_HeaderAppendAction {
	if o.GetAppend() == nil { //nolint:staticcheck // deprecated, and in use
		return o.GetAppendAction()
	}
	if o.GetAppend().GetValue() { //nolint:staticcheck // the same
		return corev3.HeaderValueOption_APPEND_IF_EXISTS_OR_ADD
	}
	return corev3.HeaderValueOption_OVERWRITE_IF_EXISTS_OR_ADD
}

// mutateRequest changes the headers of the request as the route says.
func (j *journey) mutateRequest(h *headers) {
	for _, m := range j.mutations() {
		j.evaluate(h, m.GetRequestHeadersToAdd(), m.GetRequestHeadersToRemove(), func(name, why string) { j.answer.doubt("added."+name, why) })
	}
}

// mutateResponse notes the headers that the route adds to the response.
func (j *journey) mutateResponse() {
	for _, m := range j.mutations() {
		j.mutateAnswer(m.GetResponseHeadersToAdd(), m.GetResponseHeadersToRemove())
	}
}

// mutateAnswer changes the headers of the response.
func (j *journey) mutateAnswer(add []*corev3.HeaderValueOption, remove []string) {
	j.evaluate(&j.response, add, remove, func(name, why string) { j.answer.doubt("response_added."+name, why) })
}
