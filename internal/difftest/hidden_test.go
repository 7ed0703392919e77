package difftest

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/xdslint/xdslint/internal/explain"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/testdata"
)

// problem is a bad example that xdslint rejects.
type problem struct {
	name     string
	skeleton string   // the first line; empty: the example is a whole bootstrap
	bad      string   // what is in the skeleton
	good     string   // the same of its corrected twin
	reasons  []string // of bad
}

// conditional are rules about what is missing, or about what only counts in some clusters: another example can have what is missing, or be
// another cluster. So is every rule of the group reference.
var conditional = []string{
	"cluster/alpn-without-tls", "cluster/protocol-options", "cluster/subset-fallback", "health/grpc-hc-http2", "health/thrift-protocol",
	"http/rds-without-source",
}

// TestProblemsDoNotHideEachOther joins two bad examples. What is reported of one of them must also be reported of both, unless the corrected
// twin of the other one removes the problem as well. Where something must come last, the order counts, so one of the two orders is enough.
func TestProblemsDoNotHideEachOther(t *testing.T) {
	t.Parallel()
	const partners = 6 // of each example
	groups := badExamples(t)
	for _, skeleton := range slices.Sorted(maps.Keys(groups)) {
		all := groups[skeleton]
		for i, a := range all {
			for k := range min(partners, len(all)-1) {
				b := all[(i+1+k*max(len(all)/partners, 1))%len(all)]
				if path.Dir(a.name) == path.Dir(b.name) {
					continue
				}
				if hidden := a.hiddenBy(t, b); len(hidden) > 0 {
					t.Errorf("%s hides of %s: %s", b.name, a.name, strings.Join(hidden, "; "))
				}
			}
		}
	}
}

// hiddenBy returns what is reported of a problem by itself and together with the corrected other one, but not together with the other one.
func (p problem) hiddenBy(t *testing.T, other problem) (hidden []string) {
	hidden = p.lost(t, p.reasons, other.bad)
	if len(hidden) == 0 {
		return nil
	}
	corrected := p.lost(t, hidden, other.good)
	return slices.DeleteFunc(hidden, func(reason string) bool { return slices.Contains(corrected, reason) })
}

// lost returns those of the reasons that are not reported of the problem and another text, in either order.
func (p problem) lost(t *testing.T, reasons []string, other string) (lost []string) {
	lost = reasons
	for _, pair := range [][2]string{{p.bad, other}, {other, p.bad}} {
		text, ok := p.joined(pair[0], pair[1])
		if !ok || len(lost) == 0 {
			return nil
		}
		together := reasonsOf(t, text)
		lost = slices.DeleteFunc(slices.Clone(lost), func(reason string) bool { return slices.Contains(together, reason) })
	}
	return lost
}

// joined joins two texts in the skeleton of the problem. It is not ok if a key of both has another value.
func (p problem) joined(a, b string) (text string, ok bool) {
	x, y := parse([]byte(a)), parse([]byte(b))
	if x == nil || y == nil || x.kind != y.kind {
		return "", false
	}
	if p.skeleton != "" {
		shared := x.kind == tree.Map && slices.ContainsFunc(x.keys, func(key string) bool { return slices.Contains(y.keys, key) })
		return p.skeleton + "\n" + a + b, !shared
	}
	y.rename(x)
	ok = x.merge(y)
	return x.yaml(), ok
}

// another is the end of the names in a bootstrap that is merged into one with the same names.
const another = "-another"

// rename renames the static resources that another bootstrap has with other content.
func (v *value) rename(other *value) {
	taken := map[string]*value{}
	for _, resource := range other.resources() {
		if name := resource.get("name"); name != nil {
			taken[name.text] = resource
		}
	}
	for _, resource := range v.resources() {
		name := resource.get("name")
		if name == nil || taken[name.text] == nil || taken[name.text].equal(resource) {
			continue
		}
		was := name.text
		v.each("", func(_ string, v *value) {
			if v.kind == tree.String && v.text == was {
				v.text += another
			}
		})
	}
}

func (v *value) resources() (all []*value) {
	if static := v.get("static_resources"); static != nil {
		for _, kind := range static.items {
			all = append(all, kind.items...)
		}
	}
	return all
}

// merge adds another value. It is not ok if both have a different scalar in one place.
func (v *value) merge(other *value) (ok bool) {
	switch {
	case v.equal(other):
		return true
	case v.kind == tree.List && other.kind == tree.List:
		for _, item := range other.items {
			if !slices.ContainsFunc(v.items, item.equal) {
				v.items = append(v.items, item)
			}
		}
		return true
	case v.kind != tree.Map || other.kind != tree.Map:
		return false
	}
	for i, key := range other.keys {
		if own := v.get(key); own == nil {
			v.set(key, other.items[i])
		} else if !own.merge(other.items[i]) {
			return false
		}
	}
	return true
}

// badExamples returns the bad examples by their skeleton.
func badExamples(t *testing.T) map[string][]problem {
	t.Helper()
	groups := map[string][]problem{}
	err := fs.WalkDir(testdata.Rules, "rules", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".txtar" {
			return err
		}
		text, err := fs.ReadFile(testdata.Rules, name)
		if err != nil {
			return err
		}
		examples := map[string]string{}
		for _, f := range txtar.Parse(text).Files {
			examples[f.Name] = string(f.Data)
		}
		for _, example := range slices.Sorted(maps.Keys(examples)) {
			twin, ok := examples[strings.Replace(example, "bad", "good", 1)]
			if !ok {
				twin = examples["good.yaml"]
			}
			if !strings.HasPrefix(example, "bad") || strings.Contains(example, "/") {
				continue
			}
			p := problem{name: strings.TrimSuffix(name, ".txtar") + "/" + example, bad: examples[example], good: twin}
			if skeleton, body, _ := strings.Cut(p.bad, "\n"); strings.HasPrefix(skeleton, "# in: ") {
				p.skeleton, p.bad, p.good = skeleton, body, strings.TrimPrefix(p.good, skeleton+"\n")
			}
			if root := parse([]byte(p.bad)); root == nil || p.skeleton == "" && root.get("static_resources") == nil {
				continue // not a text that can be joined, or not a bootstrap
			}
			if p.reasons = reasonsOf(t, examples[example]); len(p.reasons) > 0 {
				groups[p.skeleton] = append(groups[p.skeleton], p)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return groups
}

// reasonsOf returns why xdslint rejects an example.
func reasonsOf(t *testing.T, example string) (all []string) {
	t.Helper()
	reasons, err := askXdslint(t.Context(), explain.File{Name: "bad.yaml", Text: example}.Whole())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range reasons {
		if strings.HasPrefix(r.Rule, "reference/") || slices.Contains(conditional, r.Rule) {
			continue
		}
		all = append(all, r.Rule+": "+strings.ReplaceAll(r.Message, another, ""))
	}
	return all
}
