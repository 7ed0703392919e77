package difftest

import (
	"context"
	"strings"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/verdict"
	"github.com/xdslint/xdslint/rules"
)

// Answer is what the two say about one bootstrap.
type Answer struct {
	Envoy   envoytest.Verdict
	Reasons []verdict.Reason // of xdslint; none: it accepts
}

// judges are the two that are asked; the tests have others.
type judges struct {
	envoy   func(ctx context.Context, text string) (envoytest.Verdict, error)
	xdslint func(ctx context.Context, text string) ([]verdict.Reason, error)
}

var bothJudges = judges{envoy: askEnvoy, xdslint: askXdslint}

func (j judges) ask(ctx context.Context, root *value) (Answer, error) {
	text := root.yaml()
	reasons, err := j.xdslint(ctx, text)
	if err != nil {
		return Answer{}, err
	}
	v, err := j.envoy(ctx, text)
	return Answer{v, reasons}, err
}

func askEnvoy(ctx context.Context, text string) (envoytest.Verdict, error) {
	return envoytest.ValidateText(ctx, text, ".yaml")
}

func askXdslint(ctx context.Context, text string) ([]verdict.Reason, error) {
	opts := load.Options{Stdin: strings.NewReader(text), StdinName: "case.yaml"}
	all, err := verdict.Judge(ctx, "-", []dataplane.Target{dataplane.Default()}, rules.All(), opts)
	if err != nil {
		return nil, err
	}
	return all[0].Reasons, nil
}
