package walk

import (
	"math"
	"slices"
	"strconv"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
)

// pick finds the cluster of the route (RouteEntryImplBase::clusterEntry).
func (j *journey) pick() bool {
	action := j.level.Route.GetRoute()
	switch by := action.GetClusterSpecifier().(type) {
	case *routev3.RouteAction_Cluster:
		j.answer.Target = by.Cluster
	case *routev3.RouteAction_ClusterHeader:
		j.answer.Target = j.first(by.ClusterHeader)
	case *routev3.RouteAction_WeightedClusters:
		return j.pickWeighted(by.WeightedClusters)
	case *routev3.RouteAction_ClusterSpecifierPlugin, *routev3.RouteAction_InlineClusterSpecifierPlugin:
		j.answer.doubt(unknownCluster, "a cluster specifier plugin chooses the cluster")
	}
	return true
}

// first returns the first value of a header.
func (j *journey) first(name string) string {
	if all := j.headers.values(name); len(all) > 0 {
		return all[0]
	}
	return ""
}

// pickWeighted follows WeightedClusterSpecifierPlugin::pickWeightedCluster.
func (j *journey) pickWeighted(w *routev3.WeightedCluster) bool {
	weights, total := j.weights(w)
	if total == 0 {
		return true
	}
	value, decided := j.selection(w)
	if decided = decided || slices.Max(weights) == total; decided {
		value %= total
		for i, weight := range weights {
			if value < weight {
				j.level = j.part(i)
				j.reach(w.GetClusters()[i], "")
				j.answer.Target = j.clusterOf(w.GetClusters()[i])
				return true
			}
			value -= weight
		}
	}
	j.answer.Weighted = map[string]*Share{}
	for i, c := range w.GetClusters() {
		if weights[i] == 0 {
			continue
		}
		j.reach(c, "")
		name := j.clusterOf(c)
		if j.answer.Weighted[name] == nil {
			j.answer.Weighted[name] = &Share{}
		}
		j.answer.Weighted[name].Share += float64(weights[i]) / float64(total)
		if len(c.GetTypedPerFilterConfig()) > 0 {
			j.answer.doubt(unknownStatus, "chance chooses the cluster, and with it the settings of filters")
		}
	}
	return true
}

// weights returns the weights, which the runtime can replace, and their sum.
func (j *journey) weights(w *routev3.WeightedCluster) (all []uint64, total uint64) {
	for _, c := range w.GetClusters() {
		weight := uint64(c.GetWeight().GetValue())
		if prefix := w.GetRuntimeKeyPrefix(); prefix != "" {
			weight = j.runtime.Integer(prefix+"."+c.GetName(), weight)
		}
		all, total = append(all, weight), total+weight
	}
	return all, total
}

// selection returns the number that chooses the cluster, if a header or a lookup has it.
func (j *journey) selection(w *routev3.WeightedCluster) (value uint64, decided bool) {
	if all := j.headers.values(w.GetHeaderName()); len(all) == 1 {
		value, err := strconv.ParseUint(strings.TrimSpace(all[0]), 10, 64)
		if err == nil && value < math.MaxUint64 {
			return value, true
		}
	}
	if j.lookup != nil {
		return j.lookup.Random, true
	}
	return 0, false
}

func (j *journey) clusterOf(c *routev3.WeightedCluster_ClusterWeight) string {
	if c.GetName() != "" {
		return c.GetName()
	}
	return j.first(c.GetClusterHeader())
}

// part returns the level of a weighted cluster of the route.
func (j *journey) part(i int) *envoy.RouteLevel {
	c := j.level.Route.GetRoute().GetWeightedClusters().GetClusters()[i]
	part := *j.level
	part.At, part.Around = j.level.At.Field("route", "weighted_clusters").Item("clusters", i), j.level
	part.Configs, part.Cluster = c.GetTypedPerFilterConfig(), c
	return &part
}
