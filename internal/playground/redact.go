package playground

import (
	"context"
	"maps"
	"slices"

	"github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/redact"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/internal/source"
)

type redactAnswer struct {
	Files   map[string]string `json:"files"`
	Secrets []foundSecret     `json:"secrets"`
}

// foundSecret is the kind and place of a secret, never its value.
type foundSecret struct {
	What     string          `json:"what"`
	Location report.Location `json:"location"`
}

func withoutSecrets(_ context.Context, q *request) (any, error) {
	answer := &redactAnswer{Files: map[string]string{}, Secrets: []foundSecret{}}
	for _, name := range slices.Sorted(maps.Keys(q.Files)) {
		f := &source.File{Name: name, Text: []byte(q.Files[name])}
		clean, found := redact.Text(name, f.Text, types.Envoy)
		answer.Files[name] = string(clean)
		for _, s := range found {
			answer.Secrets = append(answer.Secrets, foundSecret{s.What, report.LocationOf(f, s.Span)})
		}
	}
	return answer, nil
}
