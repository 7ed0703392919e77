package walktest

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/internal/walk"
)

// statistics returns those of guards.
func (r *running) statistics(ctx context.Context) (map[string]int, error) {
	raw, err := r.Admin(ctx, "/stats?format=json&usedonly&filter="+
		`rbac%7Cjwt_authn%7Cext_authz%7Coauth_%7Chttp_local_rate_limit%7Cbasic_auth%7Cratelimit%7Capi_key_auth`)
	if err != nil {
		return nil, err
	}
	var read struct {
		Stats []struct {
			Name  string
			Value json.Number
		}
	}
	if err := json.Unmarshal(raw, &read); err != nil {
		return nil, err
	}
	all := map[string]int{}
	for _, s := range read.Stats {
		if n, err := s.Value.Int64(); err == nil {
			all[s.Name] = int(n)
		}
	}
	return all, nil
}

// marks are what the names of the statistics end with that move if a guard runs, if it rejects the request, and if it only sees it.
var marks = map[string]struct{ runs, rejects, sees []string }{
	"rbac":            {nil, []string{".rbac.denied"}, []string{".rbac.allowed"}},
	"jwt_authn":       {nil, []string{".jwt_authn.denied"}, []string{".jwt_authn.allowed", ".jwt_authn.cors_preflight_bypassed"}},
	"ext_authz":       {[]string{".ext_authz.ok"}, []string{".ext_authz.denied"}, nil},
	"oauth2":          {nil, []string{".oauth_unauthorized_rq"}, []string{".oauth_passthrough"}},
	"basic_auth":      {[]string{".basic_auth.allowed"}, []string{".basic_auth.denied"}, nil},
	"api_key_auth":    {[]string{".api_key_auth.allowed"}, []string{".api_key_auth.unauthorized", ".api_key_auth.forbidden"}, nil},
	"ratelimit":       {[]string{".ratelimit.error"}, nil, nil},
	"local_ratelimit": {[]string{".http_local_rate_limit.enabled"}, nil, nil},
}

// movedKinds returns what moved, as "KIND runs", "KIND rejects" or "KIND sees".
func movedKinds(before, after map[string]int) map[string]bool {
	moved := map[string]bool{}
	for name, n := range after {
		if n == before[name] {
			continue
		}
		for kind, m := range marks {
			for what, ends := range map[string][]string{"runs": m.runs, "rejects": m.rejects, "sees": m.sees} {
				for _, end := range ends {
					if strings.HasSuffix(name, end) {
						moved[kind+" "+what] = true
					}
				}
			}
		}
	}
	return moved
}

// expected returns what each guard does: the one that rejects the request is the last one that does anything.
func (r *running) expected(q *walk.Request, g *walk.Guarded) map[string]string {
	want := map[string]string{}
	over := len(g.Filters) == 0
	for _, guard := range g.Guards {
		if guard.Kind == walk.MTLS {
			over = over || guard.State.Holds() && !q.ClientCert.Presented
			continue
		}
		state := "nothing"
		if !over {
			state = r.does(q, guard)
		}
		if _, known := want[guard.Kind]; !known || state != "nothing" {
			want[guard.Kind] = state
		}
		over = over || state == "rejects" || state == "answers"
	}
	return want
}

// does returns what moves for a guard.
func (r *running) does(q *walk.Request, guard walk.Guard) string {
	switch {
	case guard.State == walk.Open, guard.State == walk.Exempt:
		return "passes"
	case !guard.State.Holds():
		return "nothing"
	case guard.Kind == "ext_authz", guard.Kind == "local_ratelimit", guard.Kind == "ratelimit", guard.Kind == "api_key_auth" && hasKey(q), guard.Kind == "basic_auth" && r.authenticated(q):
		return "runs"
	case guard.Kind == "oauth2" && (strings.Contains(*q.Path, "/signout") || strings.Contains(*q.Path, "/callback")):
		return "answers"
	}
	return "rejects"
}

// hasKey reports whether a request has the right API key.
func hasKey(q *walk.Request) bool {
	return slices.Contains(q.Headers, walk.Header{keyHeader, rightKey})
}

// authenticated reports whether the user and the password of a request are right.
func (r *running) authenticated(q *walk.Request) bool {
	alone := *q
	for kind := range marks {
		if kind != "basic_auth" {
			alone.Passing = append(alone.Passing, kind)
		}
	}
	a, err := r.walker.Walk(&alone)
	return err == nil && slices.ContainsFunc(a.Filters, func(f walk.FilterStep) bool { return f.Kind == "basic_auth" && f.Does == "passes" })
}

// agrees compares what is expected with what moved. A guard that lets a request pass may note that it saw it.
func agrees(want map[string]string, moved map[string]bool) bool {
	for kind := range marks {
		runs, rejects, sees := moved[kind+" runs"], moved[kind+" rejects"], moved[kind+" sees"]
		var ok bool
		switch want[kind] {
		case "runs":
			ok = runs && !rejects
		case "rejects":
			ok = rejects
		case "answers":
			ok = true
		case "passes":
			ok = !rejects && (kind != "jwt_authn" && kind != "oauth2" || sees)
		default:
			ok = !runs && !rejects && !sees
		}
		if !ok {
			return false
		}
	}
	return true
}
