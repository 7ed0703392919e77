package difftest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/internal/envoytest"
)

// wrongTypes do not belong into the same extension point.
var wrongTypes = []string{
	"envoy.extensions.http.original_ip_detection.xff.v3.XffConfig",
	"envoy.extensions.filters.udp.dns_filter.v3.DnsFilterConfig",
}

// TestWrongTypes puts a type that does not belong there into every extension point of the rich seeds: xdslint must say what Envoy says.
func TestWrongTypes(t *testing.T) {
	envoytest.Need(t)
	records, err := envoytest.OpenRecords("testdata/points.txt", *update)
	if err != nil {
		t.Fatal(err)
	}
	ask := judges{xdslint: askXdslint}
	corpus := testCorpus(t)
	extensions := newExtensions(corpus)
	tried := map[string]bool{}
	for _, s := range corpus.rich() {
		for i, p := range places(s.root) {
			if !p.isAny || tried[p.holder] {
				continue
			}
			tried[p.holder] = true
			root := s.root.clone()
			*places(root)[i].at = *wrongFor(string(p.md.FullName()), extensions)
			point := strings.ReplaceAll(strings.TrimSpace(p.holder), " ", ">")
			ask.envoy = func(ctx context.Context, text string) (envoytest.Verdict, error) {
				q := envoytest.Question{About: point, Way: "validate", Digest: envoytest.Digest(map[string]string{s.name: text})}
				return records.Ask(envoytest.Newest, q, func() (envoytest.Verdict, error) { return askEnvoy(ctx, text) })
			}
			answer, err := ask.ask(t.Context(), root)
			if err != nil {
				t.Fatal(err)
			}
			if o := answer.outcome(); o == miss || o == falseReject {
				t.Errorf("%s in %s: %s: Envoy says %s, xdslint %v", point, s.name, o, answer.Envoy, answer.Reasons)
			}
		}
	}
	if err := records.Write(); err != nil {
		t.Fatal(err)
	}
}

// wrongFor returns a configuration that is not of a category in which the given type is.
func wrongFor(name string, x *extensions) *value {
	wrong := wrongTypes[0]
	if slices.ContainsFunc(x.categories[name], func(c string) bool { return slices.Contains(x.categories[wrong], c) }) {
		wrong = wrongTypes[1]
	}
	made := object()
	made.set("@type", str("type.googleapis.com/"+wrong))
	return made
}
