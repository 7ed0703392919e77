package walk

import (
	"slices"

	mutationv3 "github.com/envoyproxy/go-control-plane/envoy/config/common/mutation_rules/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	headermutationv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/header_mutation/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
)

// mutateHeaders follows HeaderMutation::decodeHeaders: the chain's mutations, then those of all levels of the route.
func mutateHeaders(j *journey, v visit) bool {
	for _, m := range j.headerMutations(v.HTTPFilter) {
		doubted := func(name, why string) { j.answer.doubt("added."+name, why) }
		j.mutateBy(j.headers, m.GetRequestMutations(), doubted)
		if len(m.GetQueryParameterMutations()) > 0 {
			j.mutateQuery(m.GetQueryParameterMutations())
		}
	}
	return true
}

// mutateAnswers follows HeaderMutation::encodeHeaders. All filters of the chain see the response, also where one of them answers, the last one first.
func (j *journey) mutateAnswers() {
	if j.filters == nil && j.manager != nil {
		j.filters = j.manager.filters
	}
	disables := j.level
	if j.unrouted {
		disables = nil
	}
	for _, f := range slices.Backward(j.filters) {
		if disables.Filter(f.Message.GetName(), f.Message.GetDisabled()).Off {
			continue
		}
		for _, m := range j.headerMutations(f) {
			j.mutateBy(&j.response, m.GetResponseMutations(), func(name, why string) { j.answer.doubt("response_added."+name, why) })
		}
	}
}

// headerMutations returns the mutations of a filter in their order.
func (j *journey) headerMutations(f envoy.HTTPFilter) (all []*headermutationv3.Mutations) {
	config, ok := f.Config.(*headermutationv3.HeaderMutation)
	if !ok {
		return nil
	}
	for _, own := range j.all(f.Message.GetName()) {
		if m, ok := own.(*headermutationv3.HeaderMutationPerRoute); ok {
			all = append(all, m.GetMutations())
		}
	}
	if config.GetMostSpecificHeaderMutationsWins() {
		slices.Reverse(all)
	}
	return slices.Insert(all, 0, config.GetMutations())
}

// mutateBy applies mutations one after the other.
func (j *journey) mutateBy(h *headers, all []*mutationv3.HeaderMutation, doubted func(name, why string)) {
	for _, m := range all {
		switch action := m.GetAction().(type) {
		case *mutationv3.HeaderMutation_Remove:
			j.evaluate(h, nil, []string{action.Remove}, doubted)
		case *mutationv3.HeaderMutation_Append:
			j.evaluate(h, []*corev3.HeaderValueOption{action.Append}, nil, doubted)
		case *mutationv3.HeaderMutation_RemoveOnMatch_:
			for _, each := range slices.Clone(h.list) {
				if j.fitsText(action.RemoveOnMatch.GetKeyMatcher(), each[0]) == match.Yes {
					j.evaluate(h, nil, []string{each[0]}, doubted)
				}
			}
		}
	}
}

// mutateQuery follows Mutations::mutateRequestHeaders for the parameters of the query, which come out decoded and sorted by name, except for the values that it writes.
func (j *journey) mutateQuery(all []*corev3.KeyValueMutation) {
	p, has := j.headers.get(path)
	if !has {
		return
	}
	q := decodeQuery(p)
	for _, m := range all {
		if m.GetRemove() != "" {
			delete(q, m.GetRemove())
			continue
		}
		key, pair := m.GetAppend().GetRecord().GetKey(), m.GetAppend()
		value, why := j.format(pair.GetRecord().GetValue().GetStringValue(), j.headers)
		if why != "" {
			j.answer.doubt(unknownPath, why)
		}
		value = encode(value)
		_, exists := q[key]
		switch pair.GetAction() {
		case corev3.KeyValueAppend_ADD_IF_ABSENT:
			if !exists {
				q[key] = []string{value}
			}
		case corev3.KeyValueAppend_OVERWRITE_IF_EXISTS:
			if exists {
				q[key] = []string{value}
			}
		case corev3.KeyValueAppend_OVERWRITE_IF_EXISTS_OR_ADD:
			q[key] = []string{value}
		default:
			q[key] = append(q[key], value)
		}
	}
	j.headers.set(path, q.in(p))
}
