package walktest

import (
	"encoding/json"
	"fmt"
	"slices"
)

// twin returns a copy of a configuration that is changed in one place, or written in another way. what says how.
func (c *configuration) twin(m *maker) (other *configuration, what string) {
	copied := *c
	raw, err := json.Marshal(c.bootstrap)
	if err == nil {
		copied.bootstrap = nil
		err = json.Unmarshal(raw, &copied.bootstrap)
	}
	if err != nil {
		panic(err) // a configuration consists of what JSON has
	}
	edits := []struct {
		what string
		edit func(*maker, obj) bool
	}{
		{"cluster", changeCluster},
		{"path", changePath},
		{"order", swapRoutes},
		{"dropped route", dropRoute},
		{"added route", addRoute},
		{"header condition", changeHeader},
		{"rewrite", changeRewrite},
		{"added header", changeAddition},
		{"domain", changeDomain},
		{"normalization", changeManager},
		{"renamed", rename},
		{"shadowed route", shadowRoute},
		{"split host", splitHost},
		{"nothing", func(*maker, obj) bool { return true }},
	}
	for {
		e := edits[m.IntN(len(edits))]
		if e.edit(m, copied.manager(m)) {
			return &copied, e.what
		}
	}
}

// manager returns one of the connection managers.
func (c *configuration) manager(m *maker) obj {
	listener := c.bootstrap["static_resources"].(obj)["listeners"].(list)[0].(obj)
	chain := pick(m, listener["filter_chains"].(list)...).(obj)
	return chain["filters"].(list)[0].(obj)["typed_config"].(obj)
}

func hostsOf(manager obj) list { return manager["route_config"].(obj)["virtual_hosts"].(list) }

// anyHost returns a virtual host, or nil if there is none.
func anyHost(m *maker, manager obj) obj {
	if hosts := hostsOf(manager); len(hosts) > 0 {
		return pick(m, hosts...).(obj)
	}
	return nil
}

// anyRoute returns a route for which the condition holds, or nil if chance does not find one.
func anyRoute(m *maker, manager obj, fits func(obj) bool) obj {
	for range 8 {
		if h := anyHost(m, manager); h != nil {
			if r := pick(m, h["routes"].(list)...).(obj); fits(r) {
				return r
			}
		}
	}
	return nil
}

func forwards(r obj) bool { return r["route"] != nil }

func changeCluster(m *maker, manager obj) bool {
	r := anyRoute(m, manager, func(r obj) bool { return forwards(r) && r["route"].(obj)["cluster"] != nil })
	if r != nil {
		r["route"].(obj)["cluster"] = m.clusterName()
	}
	return r != nil
}

func changePath(m *maker, manager obj) bool {
	r := anyRoute(m, manager, func(r obj) bool { return r["match"].(obj)["prefix"] != nil || r["match"].(obj)["path"] != nil })
	if r == nil {
		return false
	}
	match := r["match"].(obj)
	delete(match, "prefix")
	delete(match, "path")
	match[pick(m, "prefix", "path")] = m.path()
	return true
}

func swapRoutes(m *maker, manager obj) bool {
	h := anyHost(m, manager)
	if h == nil || len(h["routes"].(list)) < 2 {
		return false
	}
	routes := h["routes"].(list)
	i := m.IntN(len(routes) - 1)
	routes[i], routes[i+1] = routes[i+1], routes[i]
	return true
}

func dropRoute(m *maker, manager obj) bool {
	h := anyHost(m, manager)
	if h == nil || len(h["routes"].(list)) < 2 {
		return false
	}
	i := m.IntN(len(h["routes"].(list)))
	h["routes"] = slices.Delete(h["routes"].(list), i, i+1)
	return true
}

func addRoute(m *maker, manager obj) bool {
	h := anyHost(m, manager)
	if h == nil {
		return false
	}
	made := obj{"name": fmt.Sprint("new", m.IntN(100)), "match": m.match(), "direct_response": m.direct()}
	h["routes"] = slices.Insert(h["routes"].(list), m.IntN(1+len(h["routes"].(list))), any(made))
	return true
}

func changeHeader(m *maker, manager obj) bool {
	r := anyRoute(m, manager, func(obj) bool { return true })
	if r == nil {
		return false
	}
	if match := r["match"].(obj); match["headers"] != nil && m.one(2) {
		delete(match, "headers")
	} else {
		match["headers"] = list{m.header()}
	}
	return true
}

func changeRewrite(m *maker, manager obj) bool {
	r := anyRoute(m, manager, func(r obj) bool { return forwards(r) && r["route"].(obj)["prefix_rewrite"] != nil })
	if r != nil {
		r["route"].(obj)["prefix_rewrite"] = "/changed"
	}
	return r != nil
}

func changeAddition(m *maker, manager obj) bool {
	if h := anyHost(m, manager); h != nil {
		pick(m, h, pick(m, h["routes"].(list)...).(obj))["request_headers_to_add"] = m.additions("changed")
		return true
	}
	return false
}

func changeDomain(m *maker, manager obj) bool {
	h := anyHost(m, manager)
	if h == nil {
		return false
	}
	h["domains"].(list)[0] = pick(m, "other.test", "*.other.test", "other.*")
	return true
}

func changeManager(m *maker, manager obj) bool {
	name := pick(m, "normalize_path", "merge_slashes", "strip_trailing_host_dot")
	on, _ := manager[name].(bool)
	manager[name] = !on
	return true
}

// rename changes names that nothing sees.
func rename(m *maker, manager obj) bool {
	manager["stat_prefix"] = "renamed"
	manager["route_config"].(obj)["name"] = "renamed"
	if h := anyHost(m, manager); h != nil {
		h["name"] = "renamed"
	}
	return true
}

// shadowRoute repeats a route at the end of its virtual host with another action, so that no request reaches it.
func shadowRoute(m *maker, manager obj) bool {
	h := anyHost(m, manager)
	if h == nil {
		return false
	}
	match := pick(m, h["routes"].(list)...).(obj)["match"]
	h["routes"] = append(h["routes"].(list), obj{"name": "shadowed", "match": match, "direct_response": m.direct()})
	return true
}

// splitHost gives the last domain of a virtual host a virtual host of its own.
func splitHost(m *maker, manager obj) bool {
	h := anyHost(m, manager)
	if h == nil || len(h["domains"].(list)) < 2 {
		return false
	}
	made := obj{}
	for name, value := range h {
		made[name] = value
	}
	made["name"] = h["name"].(string) + "-split"
	made["domains"], h["domains"] = h["domains"].(list)[1:], h["domains"].(list)[:1]
	table := manager["route_config"].(obj)
	table["virtual_hosts"] = append(table["virtual_hosts"].(list), made)
	return true
}
