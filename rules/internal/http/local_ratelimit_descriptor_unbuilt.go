package http

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	commonv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	localratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/local_ratelimit/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "local-ratelimit-descriptor-unbuilt",
	Severity: lint.Warning,
	Summary:  "a local rate limit has a bucket for a descriptor that no rate limit action builds",
	Links: []string{
		"LocalRateLimiterImpl::requestAllowed (source/extensions/filters/common/local_ratelimit/local_ratelimit_impl.cc)",
		"https://github.com/envoyproxy/envoy/issues/14851",
	},
	Run: managers.All(func(p *lint.Pass, all []managers.Manager) {
		b := buckets{built: map[proto.Message]*builtFor{}}
		for _, m := range all {
			for _, f := range m.Filters {
				if f.Kind == "local_ratelimit" {
					b.collect(f, m.Routes)
				}
			}
		}
		for _, config := range b.order {
			if built := b.built[config]; !built.unknown {
				reportUnbuilt(p, built)
			}
		}
	}),
})

// buckets collects, for each configuration of a local rate limit, the descriptors that its routes build.
type buckets struct {
	order []proto.Message
	built map[proto.Message]*builtFor
}

type builtFor struct {
	config      *localratelimitv3.LocalRateLimit
	at          lint.At
	descriptors [][]envoy.DescriptorEntry
	unknown     bool // there may be more
}

func (b *buckets) of(config *localratelimitv3.LocalRateLimit, at lint.At) *builtFor {
	if b.built[config] == nil {
		b.built[config] = &builtFor{config: config, at: at}
		b.order = append(b.order, config)
	}
	return b.built[config]
}

// collect adds the descriptors of all routes for the configurations of one filter.
func (b *buckets) collect(f envoy.HTTPFilter, routes envoy.Routes) {
	own, ok := f.Config.(*localratelimitv3.LocalRateLimit)
	if !ok {
		return
	}
	chain := b.of(own, f.Own)
	chain.unknown = chain.unknown || !routes.Known
	for l := range routes.Levels {
		if l.Route == nil {
			continue
		}
		used := chain
		if config, is := l.Filter(f.Message.GetName(), false).Config.(*localratelimitv3.LocalRateLimit); is {
			used = b.of(config, l.Filter(f.Message.GetName(), false).At)
		}
		if l.Cluster != nil {
			used.unknown = used.unknown || l.Configs[f.Message.GetName()] != nil
			continue
		}
		limits, _ := f.RateLimits(l)
		for _, limit := range limits {
			entries, known := limit.Descriptor()
			used.unknown = used.unknown || !known
			used.descriptors = append(used.descriptors, entries)
		}
	}
}

func reportUnbuilt(p *lint.Pass, b *builtFor) {
	for i, d := range b.config.GetDescriptors() {
		if builds(b.descriptors, d) {
			continue
		}
		note := "no rate_limits of its routes build a descriptor"
		if len(b.descriptors) > 0 {
			note = "its routes build " + spelled(b.descriptors)
		}
		p.Report(b.at.Item("descriptors", i).Field("entries").Key(), lint.Diagnostic{
			Message: "no request has this descriptor, so its token bucket is never used",
			Notes:   []string{note + "; Envoy compares all keys and values, in their order"},
			Help:    "write the keys and values that rate_limits of the route, the virtual host or this filter build",
		})
	}
}

// builds reports whether one of the descriptors is that of a bucket. An empty value of the bucket stands for any.
func builds(descriptors [][]envoy.DescriptorEntry, bucket *commonv3.LocalRateLimitDescriptor) bool {
	for _, entries := range descriptors {
		same := len(entries) == len(bucket.GetEntries())
		for i := 0; same && i < len(entries); i++ {
			wanted := bucket.GetEntries()[i]
			same = wanted.GetKey() == entries[i].Key && (wanted.GetValue() == "" || entries[i].Value == "" || wanted.GetValue() == entries[i].Value)
		}
		if same {
			return true
		}
	}
	return false
}

// spelled shows the first descriptors.
func spelled(descriptors [][]envoy.DescriptorEntry) string {
	var all []string
	for _, entries := range descriptors {
		var one []string
		for _, e := range entries {
			value := e.Value
			if value == "" {
				value = "…"
			}
			one = append(one, e.Key+"="+value)
		}
		if text := fmt.Sprintf("(%s)", strings.Join(one, ", ")); len(all) < 3 {
			all = append(all, text)
		}
	}
	return strings.Join(all, ", ")
}
