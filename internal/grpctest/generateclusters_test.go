package grpctest

import (
	"fmt"
	"strings"
)

// cluster returns a cluster. An aggregate has clusters with higher numbers, and sometimes any of them.
func (m *maker) cluster(name string, number int) object {
	c := object{"@type": config + "cluster.v3.Cluster", "name": name}
	m.balance(c)
	if m.one(12) {
		c["circuit_breakers"] = object{"thresholds": list{object{"max_requests": 1000 * (number % 2)}}}
	}
	switch m.IntN(12) {
	case 0:
		c["type"] = "LOGICAL_DNS"
		c["load_assignment"] = object{"endpoints": list{object{"lb_endpoints": list{object{"endpoint": object{"address": m.address()}}}}}}
	case 1, 2, 3:
		var members list
		for range 1 + m.IntN(3) {
			member := min(number+1+m.IntN(3), len(clusterNames)-1)
			if m.one(6) {
				member = m.IntN(len(clusterNames))
			}
			members = append(members, clusterNames[member])
		}
		c["cluster_type"] = object{"name": "envoy.clusters.aggregate", "typed_config": object{"@type": extensions + "clusters.aggregate.v3.ClusterConfig", "clusters": members}}
	case 4:
		if m.one(3) {
			c["type"] = "STATIC" // which clients reject
			return c
		}
		fallthrough
	default:
		c["type"] = "EDS"
		c["eds_cluster_config"] = object{"eds_config": object{"ads": object{}}, "service_name": name + "-endpoints"}
	}
	return c
}

func (m *maker) balance(c object) {
	policy := func(name string) object {
		return object{"typed_extension_config": object{"name": name, "typed_config": object{"@type": extensions + "load_balancing_policies." + name}}}
	}
	wrr := func(inner object) object {
		o := policy("wrr_locality.v3.WrrLocality")
		o["typed_extension_config"].(object)["typed_config"].(object)["endpoint_picking_policy"] = object{"policies": list{inner}}
		return o
	}
	switch m.IntN(8) {
	case 0:
		c["lb_policy"] = "LEAST_REQUEST"
	case 1:
		c["lb_policy"], c["ring_hash_lb_config"] = "RING_HASH", object{"minimum_ring_size": 64}
	case 2:
		c["load_balancing_policy"] = object{"policies": list{policy("maglev.v3.Maglev"), policy("pick_first.v3.PickFirst")}}
	case 3:
		c["load_balancing_policy"] = object{"policies": list{wrr(policy("pick_first.v3.PickFirst"))}}
	case 4:
		c["load_balancing_policy"] = object{"policies": list{wrr(policy("round_robin.v3.RoundRobin"))}}
	}
}

func (m *maker) address() object {
	return object{"socket_address": object{"address": "127.0.0.1", "port_value": pick(m, m.ports...)}}
}

// load returns a load assignment. No endpoint is in it twice.
func (m *maker) load(name string) object {
	free := append([]int(nil), m.ports...)
	m.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
	var localities list
	for i := range max(m.IntN(6)-1, 0) {
		var hosts list
		for range max(m.IntN(4)-1, m.IntN(2)) {
			endpoint := object{"address": object{"socket_address": object{"address": "127.0.0.1", "port_value": free[0]}}}
			free = free[1:]
			host := object{"endpoint": endpoint}
			if m.one(5) {
				host["health_status"] = pick(m, "HEALTHY", "UNHEALTHY", "DRAINING", "DEGRADED")
			}
			hosts = append(hosts, host)
		}
		if m.one(25) {
			hosts = append(hosts, object{"endpoint": object{"address": object{"pipe": object{"path": "/run/x"}}}})
		}
		l := object{"locality": object{"region": "eu", "zone": fmt.Sprint(i)}, "lb_endpoints": hosts, "priority": min(i, m.IntN(3))}
		if !m.one(10) {
			l["load_balancing_weight"] = pick(m, 1, 3, 10)
		}
		localities = append(localities, l)
	}
	a := object{"@type": config + "endpoint.v3.ClusterLoadAssignment", "cluster_name": name, "endpoints": localities}
	if m.one(6) && strings.ContainsAny(name[:1], "bd") { // where the limit of requests is 0, RPCs fail before they can be dropped
		a["policy"] = object{"drop_overloads": list{object{"category": "spare", "drop_percentage": m.percentage()}, object{"category": "other", "drop_percentage": object{"numerator": 20}}}}
	}
	return a
}
