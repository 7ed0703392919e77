package match_test

import (
	"slices"
	"strings"
	"testing"

	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"pgregory.net/rapid"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
)

var (
	domains = []string{"*", "a", "A.a", "a.a", "*a", "*.a", "*a.a", "*.a.a", "a*", "a.*", "a.a*", "*.A", "b.a", "*b.a", "a.a:80", "*:80", "*a*"}
	hosts   = []string{"a", "a.a", "b.a", ".a", "b.a.a", "xa.a", "a.a:80", "aa", "A.A", "a.", "c", "", "a*", "*a"}
)

// takesHost says whether a domain has a host, and how exactly.
func takesHost(domain, host string) (rank int) {
	domain, host = strings.ToLower(domain), strings.ToLower(host)
	switch {
	case domain == "*":
		return 1
	case strings.HasPrefix(domain, "*") && len(host) > len(domain)-1 && strings.HasSuffix(host, domain[1:]):
		return 1000 + len(domain)
	case strings.HasPrefix(domain, "*"):
	case strings.HasSuffix(domain, "*") && len(host) > len(domain)-1 && strings.HasPrefix(host, strings.TrimSuffix(domain, "*")):
		return 100 + len(domain)
	case !strings.HasSuffix(domain, "*") && domain == host:
		return 10_000
	}
	return 0
}

func TestDomains(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table match.Domains[string]
		var have []string
		for range rapid.IntRange(1, 6).Draw(t, "domains") {
			d := rapid.SampledFrom(domains).Draw(t, "domain")
			known := slices.IndexFunc(have, func(h string) bool { return strings.EqualFold(h, d) })
			if first, twice := table.Add(d, d); twice != (known >= 0) || twice && first != have[known] {
				t.Fatalf("%s among %q: %s %t", d, have, first, twice)
			} else if !twice {
				have = append(have, d)
			}
		}
		for _, host := range hosts {
			want, best := "", 0
			for _, d := range have {
				if rank := takesHost(d, host); rank > best {
					want, best = d, rank
				}
			}
			got, ok := table.Find(host)
			if ok != (best > 0) || got != want {
				t.Fatalf("%s of %q: %q, not %q", host, have, got, want)
			}
		}
		for _, outer := range domains {
			for _, inner := range domains {
				for _, host := range hosts {
					if match.DomainCovers(outer, inner) && takesHost(inner, host) > 0 && takesHost(outer, host) == 0 {
						t.Fatalf("%s does not cover %s: %s", outer, inner, host)
					}
				}
			}
		}
	})
}

// TestSharing: Sharing finds every virtual host that takes a host which goes to one of these domains.
func TestSharing(t *testing.T) {
	list := rapid.SliceOfN(rapid.SampledFrom(domains), 1, 5)
	rapid.Check(t, func(t *rapid.T) {
		var here, there match.Domains[string]
		own := list.Draw(t, "here")
		for _, d := range own {
			here.Add(d, strings.ToLower(d))
		}
		for _, d := range list.Draw(t, "there") {
			there.Add(d, strings.ToLower(d))
		}
		from := strings.ToLower(own[0])
		found := map[string]bool{}
		here.Sharing([]string{from}, func(d string) bool { return d == from }, &there, func(d string) { found[d] = true })
		for _, host := range hosts {
			if d, ok := here.Find(host); !ok || d != from {
				continue
			}
			if d, ok := there.Find(host); ok && !found[d] {
				t.Fatalf("%s goes from %s to %s, which is not among %v", host, from, d, found)
			}
		}
	})
}

func TestHost(t *testing.T) {
	matching := &hcmv3.HttpConnectionManager{StripMatchingHostPort: true}
	all := &hcmv3.HttpConnectionManager{StripPortMode: &hcmv3.HttpConnectionManager_StripAnyHostPort{StripAnyHostPort: true}}
	dot := &hcmv3.HttpConnectionManager{StripTrailingHostDot: true}
	for _, test := range []struct {
		m          *hcmv3.HttpConnectionManager
		host, want string
	}{
		{&hcmv3.HttpConnectionManager{}, "a.b:80", "a.b:80"},
		{matching, "a.b:80", "a.b"},
		{matching, "a.b:81", "a.b:81"},
		{matching, "[::1]:80", "[::1]"},
		{all, "a.b:81", "a.b"},
		{all, "a.b:x", "a.b:x"},
		{all, "a.b:", "a.b:"},
		{all, "[::1]", "[::1]"},
		{all, "a.b", "a.b"},
		{dot, "a.b.", "a.b"},
		{dot, "a.b.:80", "a.b:80"},
		{dot, "a.b", "a.b"},
	} {
		if got := match.Host(test.host, test.m, 80); got != test.want {
			t.Errorf("%s: %s, not %s", test.host, got, test.want)
		}
	}
	ignoring := match.Domains[int]{IgnorePort: true}
	ignoring.Add("a.b", 1)
	if got, _ := ignoring.Find("A.b:8080"); got != 1 {
		t.Errorf("A.b:8080 goes to %d", got)
	}
	for domain, want := range map[string]bool{"a.b:80": true, "*:80": true, "[::1]:80": true, "a.b": false, "[::1]": false, "a.b:*": false, "*": false} {
		if got := ignoring.Unreachable(domain); got != want {
			t.Errorf("%s: unreachable: %t", domain, got)
		}
	}
}
