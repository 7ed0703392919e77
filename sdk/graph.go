package sdk

import "slices"

// Reaches lists the resources of a kind that it refers to, directly or through others, in the order of the files.
func (r *Resource) Reaches(kind string) []*Resource {
	return r.follow(kind, func(r *Resource) (next []*Resource) {
		for _, reference := range r.References {
			if reference.To != nil {
				next = append(next, reference.To)
			}
		}
		return next
	})
}

// ReachedBy lists the resources of a kind that refer to it, directly or through others, in the order of the files.
func (r *Resource) ReachedBy(kind string) []*Resource {
	return r.follow(kind, func(r *Resource) (next []*Resource) {
		for _, reference := range r.Referrers {
			next = append(next, reference.From)
		}
		return next
	})
}

func (r *Resource) follow(kind string, step func(*Resource) []*Resource) (found []*Resource) {
	seen := map[*Resource]bool{}
	for rest := []*Resource{r}; len(rest) > 0; rest = rest[1:] {
		for _, next := range step(rest[0]) {
			if seen[next] {
				continue
			}
			seen[next] = true
			rest = append(rest, next)
			if next.Kind == kind {
				found = append(found, next)
			}
		}
	}
	slices.SortFunc(found, func(a, b *Resource) int { return int(a.index) - int(b.index) })
	return found
}
