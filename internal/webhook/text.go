package webhook

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/lint"
)

const (
	// maxShown is the maximum number of findings in a denial, and of warnings in a response: people read them in a terminal.
	maxShown = 10
	// maxWarning is the length in runes to which an API server cuts warnings when there are more than 4096 runes of them
	// (truncateItemRunes in k8s.io/apiserver/pkg/endpoints/filters/warning.go).
	maxWarning = 256
	// maxText is the maximum length in runes of a text in a denial: a name can be as long as the object.
	maxText = 2000
)

// denial returns the status for the client. It is Forbidden, although Invalid would be more precise: on Invalid, kubectl apply --force
// and Flux with force delete and recreate the object, and so the valid configuration would be lost.
func denial(request *admissionv1.AdmissionRequest, object *metav1.PartialObjectMetadata, errors []lint.Diagnostic) *metav1.Status {
	shown := errors[:min(len(errors), maxShown)]
	var text strings.Builder
	fmt.Fprintf(&text, "xdslint: %s in %s", report.Count(errors), name(request, object))
	causes := make([]metav1.StatusCause, len(shown))
	for i := range shown {
		d := &shown[i]
		fmt.Fprintf(&text, "\n\n%s[%s]: %s", d.Severity, d.Rule.ID(), cut(d.Message, maxText))
		if at := where(d); at != "" {
			fmt.Fprintf(&text, "\n  = in: %s", cut(at, maxText))
		}
		for _, note := range d.Notes {
			fmt.Fprintf(&text, "\n  = %s", strings.ReplaceAll(cut(note, maxText), "\n", "\n    "))
		}
		if d.Help != "" {
			fmt.Fprintf(&text, "\n  help: %s", cut(d.Help, maxText))
		}
		causes[i] = metav1.StatusCause{
			Type: metav1.CauseTypeFieldValueInvalid, Field: cut(d.Resource.InObject(d.Path).String(), maxText),
			Message: fmt.Sprintf("%s (%s)", cut(d.Message, maxText), d.Rule.ID()),
		}
	}
	if more := len(errors) - len(shown); more > 0 {
		fmt.Fprintf(&text, "\n\n%d more: run xdslint on the manifest to see all", more)
	}
	return &metav1.Status{
		Status: metav1.StatusFailure, Code: 403, Reason: metav1.StatusReasonForbidden, Message: text.String(),
		Details: &metav1.StatusDetails{Name: request.Name, Group: request.Kind.Group, Kind: request.Kind.Kind, Causes: causes},
	}
}

// name returns the name of the object in the usual form: ConfigMap shop/edge-envoy.
func name(request *admissionv1.AdmissionRequest, object *metav1.PartialObjectMetadata) string {
	name := request.Name
	if name == "" {
		name = object.GenerateName + "*"
	}
	if request.Namespace != "" {
		name = request.Namespace + "/" + name
	}
	return request.Kind.Kind + " " + name
}

// where returns the place of a finding in the object, for readers: data["envoy.yaml"] › cluster "backend" › connect_timeout.
func where(d *lint.Diagnostic) string {
	at := report.In(d.Resource, d.Path)
	if d.Resource.Object != nil {
		at = strings.TrimPrefix(strings.TrimPrefix(at, d.Resource.Object.String()), " › ")
	}
	return at
}

// warnings returns the warnings of a response, the most severe first.
func (f *findings) warnings() []string {
	var all []string
	for _, failure := range f.failures {
		all = append(all, warning(fmt.Sprintf("rule %s failed on this object, so its findings are missing; this is a bug in xdslint", failure.Rule.ID())))
	}
	for i := range f.known {
		all = append(all, finding("this error existed before: ", &f.known[i]))
	}
	for i := range f.warned {
		all = append(all, finding("", &f.warned[i]))
	}
	if more := len(all) - maxShown; more > 0 {
		all = append(all[:maxShown], warning(fmt.Sprintf("%d more warnings: run xdslint on the manifest to see all", more)))
	}
	return all
}

// finding formats a warning: this error existed before: MESSAGE (RULE) in PLACE. The beginning of a long place is cut.
func finding(prefix string, d *lint.Diagnostic) string {
	text := fmt.Sprintf("%s%s (%s)", prefix, d.Message, d.Rule.ID())
	at := []rune(where(d))
	if len(at) == 0 {
		return warning(text)
	}
	const in, some = " in ", 16 // a shorter place would not identify it
	room := maxWarning - utf8.RuneCountInString(warning(text)+in)
	switch {
	case len(at) <= room:
		text += in + string(at)
	case room >= some:
		text += in + "…" + string(at[len(at)-room+1:])
	}
	return warning(text)
}

// warning makes a text valid for a response: an API server drops warnings with control characters, and cuts long ones.
func warning(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, "xdslint: "+strings.ToValidUTF8(text, "�"))
	return cut(text, maxWarning)
}

// cut shortens a text that is too long.
func cut(text string, limit int) string {
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return text
}
