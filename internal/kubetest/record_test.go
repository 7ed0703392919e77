//go:build kubernetes

package kubetest

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var record = flag.Bool("record", false, "rewrite what kubectl prints in testdata, and the AdmissionReviews in internal/webhook/testdata/reviews")

const recordings = "../../internal/webhook/testdata/reviews"

// recorder is a webhook that allows all, and writes down what it is asked.
type recorder struct {
	mu    sync.Mutex
	asked bool
	count map[string]int // of the reviews of an object
}

// startRecorder has the API server ask a recorder all that it asks xdslint.
func startRecorder(t *testing.T, c *cluster) {
	t.Helper()
	r := &recorder{count: map[string]int{}}
	server := httptest.NewTLSServer(r)
	t.Cleanup(server.Close)
	text, _ := c.must(t, "", "get", "validatingwebhookconfiguration", "xdslint", "-o", "json")
	var configuration registrationv1.ValidatingWebhookConfiguration
	if err := json.Unmarshal([]byte(text), &configuration); err != nil {
		t.Fatal(err)
	}
	configuration.ObjectMeta = metav1.ObjectMeta{Name: "recorder"}
	for i := range configuration.Webhooks {
		configuration.Webhooks[i].ClientConfig = registrationv1.WebhookClientConfig{
			URL: &server.URL, CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
		}
	}
	changed, err := json.Marshal(configuration)
	if err != nil {
		t.Fatal(err)
	}
	c.must(t, string(changed), "apply", "-f", "-")
	eventually(t, "the recorder is asked", func() error {
		_, stderr, _ := c.kubectl(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: unimportant, labels: {xdslint.dev/check: "true"}}}`,
			"apply", "--dry-run=server", "-f", "-") // xdslint rejects it
		r.mu.Lock()
		defer r.mu.Unlock()
		if !r.asked {
			return fmt.Errorf("it was not: %s", stderr)
		}
		return nil
	})
	old, err := filepath.Glob(filepath.Join(recordings, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range old {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	var review admissionv1.AdmissionReview
	body, err := io.ReadAll(request.Body)
	if err == nil {
		err = json.Unmarshal(body, &review)
	}
	if err == nil {
		err = r.save(review.Request, body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	_ = json.NewEncoder(w).Encode(review) // the API server sees if it is not whole
}

// save writes a review of an object down: configmap-edge-1.json, and so on. Large ones would show nothing else, nor would dry runs.
func (r *recorder) save(request *admissionv1.AdmissionRequest, body []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = true
	if *request.DryRun || len(body) > 1<<16 {
		return nil
	}
	name := strings.ToLower(request.Kind.Kind) + "-" + request.Name
	r.count[name]++
	var text bytes.Buffer
	if err := json.Indent(&text, body, "", "  "); err != nil {
		return err
	}
	text.WriteByte('\n')
	return os.WriteFile(filepath.Join(recordings, fmt.Sprintf("%s-%d.json", name, r.count[name])), text.Bytes(), 0o644)
}
