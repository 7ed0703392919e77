package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/lint"
)

// Linter judges an object, which is a single text and may contain no xDS. It is an *xdslint.Linter.
type Linter interface {
	Lint(ctx context.Context, in xdslint.Input) (*xdslint.Report, error)
}

// Reviewer judges the objects of AdmissionReviews. It has no state, so dry runs are handled like all requests.
type Reviewer struct{ Linter Linter }

// Review decides whether an object may be stored. It denies objects with errors, except for errors that the object had before an update.
// All other findings are warnings. An object that is being deleted is allowed, and so is one that could not be judged, with a warning: the
// webhook's failurePolicy covers only failed calls, and no answer of this function is one. A review that no API server sends (not of
// admission.k8s.io/v1, or without an object in JSON) is rejected with status 400.
func (r *Reviewer) Review(ctx context.Context, review *admissionv1.AdmissionReview) *admissionv1.AdmissionResponse {
	if review == nil || review.Request == nil {
		return malformed("", "the AdmissionReview has no request")
	}
	request := review.Request
	if review.APIVersion != admissionv1.SchemeGroupVersion.String() || review.Kind != "AdmissionReview" {
		return malformed(request.UID, fmt.Sprintf("this is %q of %q: only an AdmissionReview of %q is answered",
			review.Kind, review.APIVersion, admissionv1.SchemeGroupVersion))
	}
	allowed := &admissionv1.AdmissionResponse{UID: request.UID, Allowed: true}
	if request.SubResource != "" || request.Operation != admissionv1.Create && request.Operation != admissionv1.Update {
		return allowed
	}
	var object metav1.PartialObjectMetadata
	if err := json.Unmarshal(request.Object.Raw, &object); err != nil {
		return malformed(request.UID, "the object is not JSON: "+err.Error())
	}
	if object.DeletionTimestamp != nil || object.Labels[load.Label] == "false" {
		return allowed
	}

	found, err := r.judge(ctx, request, &object)
	if err != nil {
		return Unchecked(request.UID, err.Error())
	}
	allowed.Warnings = found.warnings()
	if len(found.errors) == 0 {
		return allowed
	}
	return &admissionv1.AdmissionResponse{UID: request.UID, Result: denial(request, &object, found.errors), Warnings: allowed.Warnings}
}

// Unchecked returns the response about an object that could not be judged: it is allowed, with a warning.
func Unchecked(uid types.UID, why string) *admissionv1.AdmissionResponse {
	return &admissionv1.AdmissionResponse{UID: uid, Allowed: true, Warnings: []string{warning("this object was not checked: " + why)}}
}

// findings are the findings of a review.
type findings struct {
	errors   []lint.Diagnostic // new ones
	known    []lint.Diagnostic // errors that the object had before
	warned   []lint.Diagnostic
	failures []*lint.Failure
}

func (r *Reviewer) judge(ctx context.Context, request *admissionv1.AdmissionRequest, object *metav1.PartialObjectMetadata) (*findings, error) {
	result, err := r.lint(ctx, request.Object.Raw)
	if err != nil {
		return nil, err
	}
	found := &findings{failures: result.Failures}
	for _, d := range result.Diagnostics {
		switch d.Severity {
		case lint.Error:
			found.errors = append(found.errors, d)
		case lint.Warning:
			found.warned = append(found.warned, d)
		}
	}
	if len(found.errors) == 0 || request.Operation != admissionv1.Update {
		return found, nil
	}
	old, err := relabelled(request.OldObject.Raw, object.Labels)
	if err != nil {
		return nil, fmt.Errorf("the old object cannot be read: %w", err)
	}
	before, err := r.lint(ctx, old)
	if err != nil {
		return nil, err
	}
	found.errors, found.known = split(found.errors, before)
	return found, nil
}

// lint judges one object.
func (r *Reviewer) lint(ctx context.Context, object []byte) (*lint.Result, error) {
	name, text := manifest(object)
	found, err := r.Linter.Lint(ctx, xdslint.Texts(map[string][]byte{name: text}))
	if err != nil { // also of the context: then the findings are incomplete
		return nil, err
	}
	return found.Result, nil
}

// relabelled returns an object with other labels. An update that adds the label that enables checks must not be denied for the
// errors that the object already has.
func relabelled(object []byte, labels map[string]string) ([]byte, error) {
	var fields, metadata map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(fields["metadata"], &metadata); err != nil {
		return nil, err
	}
	if metadata == nil { // null in JSON
		return nil, errors.New("it has no metadata")
	}
	var err error
	if metadata["labels"], err = json.Marshal(labels); err != nil {
		return nil, err
	}
	if fields["metadata"], err = json.Marshal(metadata); err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}

func malformed(uid types.UID, why string) *admissionv1.AdmissionResponse {
	return &admissionv1.AdmissionResponse{UID: uid, Result: &metav1.Status{
		Status: metav1.StatusFailure, Code: 400, Reason: metav1.StatusReasonBadRequest, Message: "xdslint: " + why,
	}}
}
