package webhook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/lint"
)

var (
	group = &lint.Group{Name: "test", Summary: "rules of this test"}
	rule  = group.Add(&lint.Rule{Name: "rule", Severity: lint.Error, Summary: "it is wrong", Run: lint.ForSnapshot(func(*lint.Pass) {})})
)

// object is a Kubernetes object that says itself what is wrong with it.
type object struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Wrong    []wrong           `json:"wrong,omitempty"`
	Failing  bool              `json:"failing,omitempty"` // the rule fails
}

type wrong struct {
	Severity lint.Severity `json:"severity,omitempty"` // zero: error
	Message  string        `json:"message"`
	Index    int           `json:"index,omitempty"` // of the list element that it is in
}

// obedient finds what an object says, and nothing in one without the label.
type obedient struct{}

func (obedient) Lint(ctx context.Context, in xdslint.Input) (*xdslint.Report, error) {
	result := &lint.Result{}
	for name, text := range in.Texts() {
		var o object
		if err := json.Unmarshal(text, &o); err != nil {
			return nil, err
		}
		if o.Metadata.Labels[load.Label] == "" {
			continue
		}
		if o.Failing {
			result.Failures = []*lint.Failure{{Rule: rule, Panic: "oops"}}
		}
		file := &source.File{Name: name, Text: text}
		for _, w := range o.Wrong {
			result.Diagnostics = append(result.Diagnostics, lint.Diagnostic{
				Rule: rule, Severity: cmp.Or(w.Severity, lint.Error), Message: w.Message, Notes: []string{"envoy refuses it"}, Help: "write it well",
				Resource: &graph.Resource{Kind: graph.Cluster, Name: "backend", File: file},
				Path:     (*tree.Path)(nil).Item("endpoints", w.Index).Field("port"),
			})
		}
	}
	return &xdslint.Report{Result: result}, ctx.Err()
}

// unlucky cannot judge.
type unlucky struct{}

func (unlucky) Lint(context.Context, xdslint.Input) (*xdslint.Report, error) {
	return nil, errors.New("no luck")
}

func request(operation admissionv1.Operation, now, before *object) *admissionv1.AdmissionReview {
	r := &admissionv1.AdmissionRequest{
		UID: "u1", Kind: metav1.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Namespace: "shop", Name: "edge-envoy", Operation: operation,
		Object: raw(now), OldObject: raw(before),
	}
	return &admissionv1.AdmissionReview{TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: r}
}

func raw(o *object) runtime.RawExtension {
	if o == nil {
		return runtime.RawExtension{}
	}
	text, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return runtime.RawExtension{Raw: text}
}

// labelled is an object that is checked.
func labelled(all ...wrong) *object {
	return &object{Metadata: metav1.ObjectMeta{Labels: map[string]string{load.Label: "true"}}, Wrong: all}
}

func review(t interface{ Fatalf(string, ...any) }, r *admissionv1.AdmissionReview) *admissionv1.AdmissionResponse {
	response := (&Reviewer{obedient{}}).Review(context.Background(), r)
	if response.UID != "u1" {
		t.Fatalf("the answer is to %q", response.UID)
	}
	return response
}

func TestDenied(t *testing.T) {
	response := review(t, request(admissionv1.Create, labelled(
		wrong{Message: "port 70000 is too large", Index: 2}, wrong{Severity: lint.Warning, Message: "nobody refers to it"},
		wrong{Severity: lint.Info, Message: "it could be shorter"}, wrong{Message: "port -1 is negative"},
	), nil))
	const want = `xdslint: 2 errors in ConfigMap shop/edge-envoy

error[test/rule]: port 70000 is too large
  = in: cluster "backend" › endpoints[2].port
  = envoy refuses it
  help: write it well

error[test/rule]: port -1 is negative
  = in: cluster "backend" › endpoints[0].port
  = envoy refuses it
  help: write it well`
	if response.Allowed || response.Result.Message != want {
		t.Errorf("allowed: %t\n%s", response.Allowed, response.Result.Message)
	}
	if response.Result.Code != 403 || response.Result.Reason != metav1.StatusReasonForbidden || len(response.Result.Details.Causes) != 2 {
		t.Errorf("%+v", response.Result)
	}
	if want := []string{`xdslint: nobody refers to it (test/rule) in cluster "backend" › endpoints[0].port`}; !slices.Equal(response.Warnings, want) {
		t.Errorf("%q", response.Warnings)
	}
}

func TestLetThrough(t *testing.T) {
	bad := wrong{Message: "bad"}
	going := labelled(bad)
	going.Metadata.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	exempt := labelled(bad)
	exempt.Metadata.Labels[load.Label] = "false"
	status := request(admissionv1.Update, labelled(bad), labelled())
	status.Request.SubResource = "status"
	for name, r := range map[string]*admissionv1.AdmissionReview{
		"good":         request(admissionv1.Create, labelled(), nil),
		"deleted":      request(admissionv1.Delete, nil, labelled(bad)),
		"connected":    request(admissionv1.Connect, labelled(bad), nil),
		"being erased": request(admissionv1.Update, going, labelled()),
		"exempt":       request(admissionv1.Create, exempt, nil),
		"unlabelled":   request(admissionv1.Create, &object{Wrong: []wrong{bad}}, nil),
		"its status":   status,
	} {
		if response := review(t, r); !response.Allowed || len(response.Warnings) > 0 {
			t.Errorf("%s: %+v", name, response)
		}
	}
}

func TestUpdate(t *testing.T) {
	bad := func(message string, index int) wrong { return wrong{Message: message, Index: index} }
	unlabelled := &object{Wrong: []wrong{bad("old", 0)}}
	failing := labelled()
	failing.Failing = true
	for name, c := range map[string]struct {
		now, before *object
		denied      []string // messages
		warned      int
	}{
		"known":                     {labelled(bad("old", 0)), labelled(bad("old", 0)), nil, 1},
		"known, but moved":          {labelled(bad("element 1 is odd", 1)), labelled(bad("element 0 is odd", 0)), nil, 1},
		"known, now labelled":       {labelled(bad("old", 0)), unlabelled, nil, 1},
		"fixed":                     {labelled(), labelled(bad("old", 0)), nil, 0},
		"new":                       {labelled(bad("new", 0)), labelled(), []string{"new"}, 0},
		"new beside a known one":    {labelled(bad("old", 0), bad("new", 0)), labelled(bad("old", 0)), []string{"new"}, 1},
		"one more like a known one": {labelled(bad("old", 0), bad("old", 1)), labelled(bad("old", 0)), []string{"old"}, 1},
		"another name":              {labelled(bad(`no cluster "b2"`, 0)), labelled(bad(`no cluster "b1"`, 0)), []string{`no cluster "b2"`}, 0},
		"a warning before":          {labelled(bad("old", 0)), labelled(wrong{Severity: lint.Warning, Message: "old"}), []string{"old"}, 0},
		"not to be known":           {labelled(bad("old", 0)), failing, nil, 1},
	} {
		response := review(t, request(admissionv1.Update, c.now, c.before))
		var denied []string
		if !response.Allowed {
			for _, cause := range response.Result.Details.Causes {
				denied = append(denied, strings.TrimSuffix(cause.Message, " (test/rule)"))
			}
		}
		if !slices.Equal(denied, c.denied) || len(response.Warnings) != c.warned {
			t.Errorf("%s: denied %q, warned %q", name, denied, response.Warnings)
		}
		for _, w := range response.Warnings {
			if !strings.HasPrefix(w, "xdslint: this error existed before: ") {
				t.Errorf("%s: %s", name, w)
			}
		}
	}
}

func TestMalformed(t *testing.T) {
	v1beta1 := request(admissionv1.Create, labelled(), nil)
	v1beta1.APIVersion = "admission.k8s.io/v1beta1"
	bare := request(admissionv1.Create, nil, nil)
	text := request(admissionv1.Create, nil, nil)
	text.Request.Object.Raw = []byte("kind: ConfigMap")
	for want, r := range map[string]*admissionv1.AdmissionReview{
		"xdslint: the AdmissionReview has no request": {TypeMeta: v1beta1.TypeMeta},
		`xdslint: this is "AdmissionReview" of "admission.k8s.io/v1beta1": only an AdmissionReview of "admission.k8s.io/v1" is answered`: v1beta1,
		"xdslint: the object is not JSON: unexpected end of JSON input":                                                                  bare,
		"xdslint: the object is not JSON: invalid character 'k' looking for beginning of value":                                          text,
	} {
		response := (&Reviewer{obedient{}}).Review(context.Background(), r)
		if response.Allowed || response.Result.Code != 400 || response.Result.Message != want {
			t.Errorf("%+v, want %s", response.Result, want)
		}
		if r.Request != nil && response.UID != r.Request.UID {
			t.Errorf("%s: the answer is to %q", want, response.UID)
		}
	}
	if response := (&Reviewer{}).Review(context.Background(), nil); response.Allowed {
		t.Error("nothing is allowed")
	}
}

// TestNotJudged: an object that cannot be judged is allowed, with a warning.
func TestNotJudged(t *testing.T) {
	ended, end := context.WithCancel(context.Background())
	end()
	failing := labelled()
	failing.Failing = true
	broken := request(admissionv1.Update, labelled(wrong{Message: "bad"}), nil)
	hollow := request(admissionv1.Update, labelled(wrong{Message: "bad"}), nil)
	hollow.Request.OldObject.Raw = []byte(`{"metadata": null}`)
	for name, c := range map[string]struct {
		ctx    context.Context
		linter Linter
		review *admissionv1.AdmissionReview
		want   string
	}{
		"error": {
			context.Background(),
			unlucky{},
			request(admissionv1.Create, labelled(), nil), "xdslint: this object was not checked: no luck",
		},
		"interrupted":              {ended, obedient{}, request(admissionv1.Create, labelled(), nil), "xdslint: this object was not checked: context canceled"},
		"no old object":            {context.Background(), obedient{}, broken, "xdslint: this object was not checked: the old object cannot be read: unexpected end of JSON input"},
		"an old object of nothing": {context.Background(), obedient{}, hollow, "xdslint: this object was not checked: the old object cannot be read: it has no metadata"},
		"a failing rule": {
			context.Background(),
			obedient{},
			request(admissionv1.Create, failing, nil),
			"xdslint: rule test/rule failed on this object, so its findings are missing; this is a bug in xdslint",
		},
	} {
		response := (&Reviewer{c.linter}).Review(c.ctx, c.review)
		if !response.Allowed || !slices.Equal(response.Warnings, []string{c.want}) {
			t.Errorf("%s: %+v", name, response)
		}
	}
}

func TestManyFindings(t *testing.T) {
	var all []wrong
	for i := range 15 {
		all = append(all, wrong{Message: fmt.Sprintf("e%d", i)}, wrong{Severity: lint.Warning, Message: fmt.Sprintf("w%d", i)})
	}
	response := review(t, request(admissionv1.Create, labelled(all...), nil))
	text := response.Result.Message
	if !strings.HasPrefix(text, "xdslint: 15 errors in ") || !strings.HasSuffix(text, "\n\n5 more: run xdslint on the manifest to see all") {
		t.Error(text)
	}
	if n := len(response.Result.Details.Causes); n != 10 {
		t.Errorf("%d causes", n)
	}
	if n := len(response.Warnings); n != 11 || response.Warnings[10] != "xdslint: 5 more warnings: run xdslint on the manifest to see all" {
		t.Errorf("%d warnings: %q", n, response.Warnings[n-1])
	}
}

// TestLongFinding: a denial is small enough to be sent, whatever the object contains.
func TestLongFinding(t *testing.T) {
	response := review(t, request(admissionv1.Create, labelled(wrong{Message: strings.Repeat("x", 1_000_000)}), nil))
	cause := response.Result.Details.Causes[0].Message
	if response.Allowed || len(response.Result.Message) > 3000 || !strings.Contains(response.Result.Message, "xxx…") || len(cause) > 3000 {
		t.Errorf("%d and %d bytes", len(response.Result.Message), len(cause))
	}
}

// TestGeneratedName: an object without a name is named by its generateName.
func TestGeneratedName(t *testing.T) {
	o := labelled(wrong{Message: "bad"})
	o.Metadata.GenerateName = "edge-"
	r := request(admissionv1.Create, o, nil)
	r.Request.Name = ""
	if text := review(t, r).Result.Message; !strings.HasPrefix(text, "xdslint: 1 error in ConfigMap shop/edge-*\n") {
		t.Error(text)
	}
}

// TestWarningsPass: every warning is one that the API server passes on: it drops texts with control characters, and cuts long ones.
func TestWarningsPass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []wrong
		for _, message := range rapid.SliceOfN(rapid.String(), 0, 20).Draw(t, "messages") {
			all = append(all, wrong{Severity: lint.Warning, Message: strings.Repeat(message, rapid.IntRange(1, 80).Draw(t, "times"))})
		}
		response := review(t, request(admissionv1.Create, labelled(all...), nil))
		total := 0
		for _, w := range response.Warnings {
			n := utf8.RuneCountInString(w)
			if n > 256 || !utf8.ValidString(w) || strings.ContainsFunc(w, unicode.IsControl) {
				t.Fatalf("%q", w)
			}
			total += n
		}
		if len(response.Warnings) != min(len(all), maxShown+1) || total > 4096 {
			t.Fatalf("%d warnings of %d runes for %d findings", len(response.Warnings), total, len(all))
		}
	})
}

// TestNothingIsLost: each error of an update is denied or is a warning, exactly once. An unchanged object is never denied.
func TestNothingIsLost(t *testing.T) {
	some := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) wrong {
		return wrong{Message: rapid.SampledFrom([]string{"a", "b", `"1"`, `"2"`}).Draw(t, "message"), Index: rapid.IntRange(0, 3).Draw(t, "index")}
	}), 0, maxShown)
	rapid.Check(t, func(t *rapid.T) {
		now, before := some.Draw(t, "now"), some.Draw(t, "before")
		response := review(t, request(admissionv1.Update, labelled(now...), labelled(before...)))
		causes := 0
		if !response.Allowed {
			causes = len(response.Result.Details.Causes)
		}
		if causes+len(response.Warnings) != len(now) {
			t.Fatalf("%d refused, %d warned", causes, len(response.Warnings))
		}
		fresh := max(0, len(now)-len(before))
		if causes < fresh {
			t.Fatalf("%d refused of %d that are too many", causes, fresh)
		}
		if again := review(t, request(admissionv1.Update, labelled(now...), labelled(now...))); !again.Allowed {
			t.Fatal("refused, though nothing is new")
		}
	})
}
