package playground

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/lint"
)

// A request takes some thirty times its size in memory, of which a browser gives 4 GiB.
const maxRequest = 32 << 20

// request is a request for any operation. Each operation reads its own fields.
type request struct {
	Files     map[string]string `json:"files"`
	Before    map[string]string `json:"before"` // what is there before a push to Files
	Targets   []string          `json:"targets"`
	Transport string            `json:"transport"`
	Versions  string            `json:"versions"`
	Rule      string            `json:"rule"`
	Unsafe    bool              `json:"unsafe"`

	custom  config.RuleSource
	session *xdslint.Session
}

// Engine answers requests, one at a time. A lint costs what has changed since the one before.
type Engine struct {
	// Custom makes the rules of constraints, for which it takes a program that is half as large again. Without, all other rules judge, and findings say what
	// they lack: {"needs": "constraints", …}.
	Custom config.RuleSource

	session xdslint.Session
}

var operations = map[string]func(context.Context, *request) (any, error){
	"about": about, "lint": lintTexts, "graph": draw, "plan": planPush, "explain": explainRule, "fix": fixTexts, "verdict": judge, "redact": withoutSecrets,
}

// Call answers a request. What is wrong with the request itself is answered as {"error": "…"}.
func (e *Engine) Call(operation string, raw []byte) []byte {
	answer, err := e.call(operation, raw)
	if err != nil {
		answer = errorAnswer{err.Error()}
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(answer); err != nil {
		panic(err) // the answers are structs of texts and numbers
	}
	return out.Bytes()
}

type errorAnswer struct {
	Error string `json:"error"`
}

func (e *Engine) call(operation string, raw []byte) (any, error) {
	do := operations[operation]
	if do == nil {
		known := make([]string, 0, len(operations))
		for name := range operations {
			known = append(known, name)
		}
		slices.Sort(known)
		return nil, fmt.Errorf("no operation is named %q: %s", operation, strings.Join(known, ", "))
	}
	if len(raw) > maxRequest {
		return nil, fmt.Errorf("this is too much at once: the limit is %d MiB, and these texts have %d", maxRequest>>20, (len(raw)+1<<20-1)>>20)
	}
	q := request{custom: e.Custom, session: &e.session}
	if err := json.Unmarshal(raw, &q); err != nil {
		return nil, fmt.Errorf("the request is malformed: %w", err)
	}
	return do(context.Background(), &q)
}

// push returns how resources are sent, according to the request.
func (q *request) push() (lint.Push, error) { return lint.ParsePush(q.Transport, q.Versions) }
