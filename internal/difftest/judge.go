package difftest

import (
	"context"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/verdict"
)

// Answer has the verdicts of Envoy and xdslint on one bootstrap.
type Answer struct {
	Envoy   envoytest.Verdict
	Reasons []verdict.Reason // of xdslint; none: it accepts
}

// judges are Envoy and xdslint. Tests replace them.
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
	linter, err := xdslint.New(xdslint.Options{})
	if err != nil {
		return nil, err
	}
	all, err := linter.Verdict(ctx, xdslint.Texts(map[string][]byte{"case.yaml": []byte(text)}))
	if err != nil {
		return nil, err
	}
	return all[0].Reasons, nil
}
