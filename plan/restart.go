package plan

import "github.com/xdslint/xdslint/graph"

// restart returns what differs between two bootstraps. A side without a bootstrap has that of the other.
func restart(before, after *graph.Snapshot) []Resource {
	had, has := booted(before), booted(after)
	if len(had) == 0 || len(has) == 0 {
		return nil
	}
	var differ []Resource
	for _, side := range []*graph.Snapshot{before, after} {
		for _, r := range side.Resources {
			at := Resource{r.Kind, r.Name}
			one, other := had[at], has[at]
			if r.Delivery != graph.FromBootstrap || side == after && one != nil { // compared on the other side
				continue
			}
			if one == nil || other == nil || !graph.Equal(one, other) {
				differ = append(differ, at)
			}
		}
	}
	return differ
}

func booted(s *graph.Snapshot) map[Resource]*graph.Resource {
	all := map[Resource]*graph.Resource{}
	for _, r := range s.Resources {
		if at := (Resource{r.Kind, r.Name}); r.Delivery == graph.FromBootstrap && all[at] == nil {
			all[at] = r
		}
	}
	return all
}
