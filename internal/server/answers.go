package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/internal/webhook"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/plan"
)

const (
	jsonType  = "application/json"
	sarifType = "application/sarif+json"
)

func (s *Server) lint(x *exchange) error {
	values, err := query(x.request, "filename", "format")
	if err != nil {
		return err
	}
	contentType, format, err := reportFormat(values.Get("format"), x.request.Header.Values("Accept"))
	if err != nil {
		return err
	}
	texts, err := s.given(x, values.Get("filename"))
	if err != nil {
		return err
	}
	x.Header().Set("Vary", "Accept")
	question := digestOf(texts, format)
	if answer, ok := s.remembered.find(question); ok {
		x.note(slog.Int("findings", answer.findings))
		x.answer(contentType, answer.text)
		return nil
	}
	noted := make(chan slog.Attr, 1)
	err = s.judge(x, s.options.Timeout, func(ctx context.Context, w io.Writer) (string, error) {
		r, err := s.Lint(ctx, xdslint.Texts(texts))
		if err != nil {
			return "", refused(ctx, err)
		}
		noted <- slog.Int("findings", len(r.Diagnostics))
		record := &recorder{Writer: w}
		if err = r.Write(record, format); err == nil && ctx.Err() == nil && len(r.Result.Failures) == 0 {
			s.remembered.keep(question, record, len(r.Diagnostics))
		}
		return contentType, err
	})
	x.noted(noted)
	return err
}

// Lint asks the linter, and logs the rules that failed.
func (s *Server) Lint(ctx context.Context, in xdslint.Input) (*xdslint.Report, error) {
	r, err := s.options.Linter.Lint(ctx, in)
	if err == nil {
		s.failures(r.Result)
	}
	return r, err
}

// noted adds an attribute to the log, if the work got far enough to know it.
func (x *exchange) noted(attr <-chan slog.Attr) {
	select {
	case a := <-attr:
		x.note(a)
	default:
	}
}

// refused returns the problem for an error of a judging function: a timeout, or a mistake of the client.
func refused(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return quoting(err)
}

// failures logs the rules that failed, but not the values that they failed with, which may quote the request.
func (s *Server) failures(results ...*lint.Result) (failed bool) {
	for _, r := range results {
		if r == nil {
			continue
		}
		for _, f := range r.Failures {
			failed = true
			s.metrics.panics.Inc()
			s.options.Log.Error("a rule failed: this is a bug in xdslint; the other rules ran", "rule", f.Rule.ID(), "stack", string(f.Stack))
		}
	}
	return failed
}

// reportFormat returns the format that the query names, or one that the client accepts, or JSON.
func reportFormat(name string, accepted []string) (contentType, format string, err error) {
	switch {
	case name == "" && accepts(accepted, sarifType):
		name = "sarif"
	case name == "":
		name = "json"
	}
	types := map[string]string{"json": jsonType, "sarif": sarifType}
	if types[name] == "" {
		return "", "", newProblem(http.StatusBadRequest, "format must be json or sarif")
	}
	return types[name], name, nil
}

func accepts(accepted []string, contentType string) bool {
	for text := range strings.SplitSeq(strings.Join(accepted, ","), ",") {
		kind, params, err := mime.ParseMediaType(text)
		if err != nil || kind != contentType {
			continue
		}
		weight, err := strconv.ParseFloat(params["q"], 64)
		return err != nil || weight > 0
	}
	return false
}

func (s *Server) plan(x *exchange) error {
	values, err := query(x.request, "transport", "versions")
	if err != nil {
		return err
	}
	push, err := lint.ParsePush(values.Get("transport"), values.Get("versions"))
	if err != nil {
		return quoting(err)
	}
	before, after, err := s.sides(x)
	if err != nil {
		return err
	}
	noted := make(chan slog.Attr, 1)
	err = s.judge(x, s.options.Timeout, func(ctx context.Context, w io.Writer) (string, error) {
		outcome, err := s.options.Linter.Plan(ctx, xdslint.Texts(before).Named("old"), xdslint.Texts(after).Named("new"), xdslint.PlanOptions{Options: plan.Options{Push: push}})
		if err != nil {
			return "", refused(ctx, err)
		}
		// An incomplete search for hazards must not look like a result without hazards.
		if s.failures(outcome.Broken, outcome.Hazards, outcome.Remaining) {
			return "", errBroken
		}
		noted <- slog.Int("findings", len(outcome.Hazards.Diagnostics))
		return jsonType, outcome.JSON(w)
	})
	x.noted(noted)
	return err
}

func (s *Server) review(x *exchange) error {
	if kind, _, err := mediaType(x.request); err != nil || kind != jsonType {
		return newProblem(http.StatusUnsupportedMediaType, "an AdmissionReview must be sent as application/json")
	}
	text, err := s.whole(x)
	if err != nil {
		return err
	}
	timeout := s.reviewTimeout(x)
	noted := make(chan slog.Attr, 1)
	begun := make(chan *admissionv1.AdmissionReview, 1) // what is judged: its kind and its UID
	err = s.judge(x, timeout, func(ctx context.Context, w io.Writer) (string, error) {
		var review admissionv1.AdmissionReview
		if err := json.Unmarshal(text, &review); err != nil {
			return "", newProblem(http.StatusBadRequest, "the body is not an AdmissionReview in JSON")
		}
		if review.Request != nil {
			begun <- &admissionv1.AdmissionReview{TypeMeta: review.TypeMeta, Request: &admissionv1.AdmissionRequest{UID: review.Request.UID}}
		}
		response := (&webhook.Reviewer{Linter: s}).Review(ctx, &review)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		noted <- slog.Bool("allowed", response.Allowed)
		text, err := json.Marshal(admissionv1.AdmissionReview{TypeMeta: review.TypeMeta, Response: response})
		if err == nil {
			_, err = w.Write(text)
		}
		return jsonType, err
	})
	x.noted(noted)
	if p, ok := errors.AsType[*problem](err); ok && p.Status == http.StatusServiceUnavailable {
		select {
		case review := <-begun:
			return s.unchecked(x, review, p.Detail)
		default:
		}
	}
	return err
}

// reviewTimeout returns the time for a review. The API server sends its own timeout; there must be an answer before.
func (s *Server) reviewTimeout(x *exchange) time.Duration {
	asked, err := time.ParseDuration(x.request.URL.Query().Get("timeout"))
	if err != nil || asked <= 0 {
		return s.options.Timeout
	}
	return min(s.options.Timeout, asked-min(asked/4, time.Second))
}

// unchecked lets an object in that was not judged in time.
func (s *Server) unchecked(x *exchange, review *admissionv1.AdmissionReview, why string) error {
	s.metrics.refused.Inc()
	x.note(slog.String("problem", why))
	text, err := json.Marshal(admissionv1.AdmissionReview{TypeMeta: review.TypeMeta, Response: webhook.Unchecked(review.Request.UID, why)})
	if err != nil {
		return err
	}
	return x.write(http.StatusOK, jsonType, text)
}
