package webhook_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/internal/webhook"
)

var update = flag.Bool("update", false, "rewrite testdata/responses")

// reviewer has all built-in rules.
var reviewer = &webhook.Reviewer{Linter: linter()}

func linter() *xdslint.Linter {
	l, err := xdslint.New(xdslint.Options{})
	if err != nil {
		panic(err)
	}
	return l
}

// testdata/reviews is what a real API server has asked; internal/kubetest records it.
func TestRecorded(t *testing.T) {
	files, err := filepath.Glob("testdata/reviews/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var review admissionv1.AdmissionReview
		if err := json.Unmarshal(text, &review); err != nil {
			t.Fatal(err)
		}
		response := reviewer.Review(t.Context(), &review)
		if response.UID != review.Request.UID {
			t.Errorf("%s: the answer is to %q", file, response.UID)
		}
		got, err := json.MarshalIndent(response, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(got), "hunter2") {
			t.Errorf("%s: a secret is shown", file)
		}
		golden(t, filepath.Join("testdata", "responses", filepath.Base(file)), string(got)+"\n")
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s (-update rewrites it):\n%s", file, got)
	}
}

// FuzzReview: every review gets an answer, whatever its object is.
func FuzzReview(f *testing.F) {
	files, err := filepath.Glob("testdata/reviews/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal("no recordings", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var review admissionv1.AdmissionReview
		if json.Unmarshal(text, &review) != nil {
			return
		}
		response := reviewer.Review(t.Context(), &review)
		if _, err := json.Marshal(response); err != nil {
			t.Fatal(err)
		}
		if response.Allowed != (response.Result == nil) {
			t.Fatalf("%+v", response)
		}
	})
}

func ExampleReviewer() {
	linter, err := xdslint.New(xdslint.Options{})
	if err != nil {
		panic(err)
	}
	reviewer := &webhook.Reviewer{Linter: linter}
	response := reviewer.Review(context.Background(), &admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			Operation: admissionv1.Create, Namespace: "shop", Name: "timeouts",
			Kind: metav1.GroupVersionKind{Group: "networking.istio.io", Version: "v1alpha3", Kind: "EnvoyFilter"},
			Object: runtime.RawExtension{Raw: []byte(`{
				"apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter", "metadata": {"name": "timeouts", "namespace": "shop"},
				"spec": {"configPatches": [{
					"applyTo": "CLUSTER", "match": {"context": "SIDECAR_OUTBOUND"},
					"patch": {"operation": "MERGE", "value": {"connect_timeout": "0s"}}
				}]}
			}`)},
		},
	})
	fmt.Println("allowed:", response.Allowed)
	fmt.Println(response.Result.Message)
	// Output:
	// allowed: false
	// xdslint: 1 error in EnvoyFilter shop/timeouts
	//
	// error[schema/constraint]: connect_timeout must be greater than 0s
	//   = in: spec.configPatches[0].patch.value.connect_timeout
	//   = Envoy rejects the patched resource (NACK) and keeps its previous configuration
}
