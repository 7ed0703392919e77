package playground

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
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
	Asked     json.RawMessage   `json:"asked"` // of the request bar

	engine *Engine
}

// Engine answers requests, one at a time. A lint costs what has changed since the one before.
type Engine struct {
	// Custom makes the rules of constraints, for which it takes a program that is half as large again. Without, all other rules judge, and findings say what
	// they lack: {"needs": "constraints", …}.
	Custom config.RuleSource
	// Follow and Holes answer the request bar. Without, it is answered {"error": …, "needs": "requests"}.
	Follow func(ctx context.Context, s *graph.Snapshot, targets []dataplane.Target, asked json.RawMessage) (any, error)
	Holes  func(*graph.Snapshot) (any, error)

	session  xdslint.Session
	followed followed
}

var operations = map[string]func(context.Context, *request) (any, error){
	"about": about, "lint": lintTexts, "graph": draw, "plan": planPush, "explain": explainRule, "fix": fixTexts, "verdict": judge, "redact": withoutSecrets,
	"follow": follow, "holes": findHoles,
}

// Call answers a request: JSON, in one line. Texts can follow in the next line, where the JSON has their places ([text]). What is wrong with the
// request itself is answered as {"error": "…"}.
func (e *Engine) Call(operation string, raw []byte) []byte {
	answer, err := e.call(operation, raw)
	if errors.Is(err, errNeedsRequests) {
		answer = errorAnswer{err.Error(), "requests"}
	} else if err != nil {
		answer = errorAnswer{Error: err.Error()}
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
	Needs string `json:"needs,omitempty"` // what another engine has
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
	q, err := readRequest(raw)
	if err != nil {
		return nil, fmt.Errorf("the request is malformed: %w", err)
	}
	q.engine = e
	return do(context.Background(), q)
}

func readRequest(raw []byte) (*request, error) {
	var sent struct {
		request
		Files  map[string]text `json:"files"`
		Before map[string]text `json:"before"`
	}
	head, behind, _ := bytes.Cut(raw, []byte("\n"))
	if err := json.Unmarshal(head, &sent); err != nil {
		return nil, err
	}
	var err error
	if sent.request.Files, err = textsIn(behind, sent.Files); err != nil {
		return nil, err
	}
	sent.request.Before, err = textsIn(behind, sent.Before)
	return &sent.request, err
}

// text is a text of a request: itself, or where it begins and ends in what follows the JSON. JSON escapes each line break, and its reader takes
// longer for a text than the engine for an edit of it.
type text struct {
	said  string
	place *[2]int
}

func (t *text) UnmarshalJSON(raw []byte) error {
	if raw[0] == '[' {
		return json.Unmarshal(raw, &t.place)
	}
	return json.Unmarshal(raw, &t.said)
}

func textsIn(behind []byte, places map[string]text) (map[string]string, error) {
	texts := make(map[string]string, len(places))
	for name, t := range places {
		texts[name] = t.said
		if at := t.place; at != nil {
			if at[0] < 0 || at[0] > at[1] || at[1] > len(behind) {
				return nil, fmt.Errorf("the text of %q is not in %d bytes", name, len(behind))
			}
			texts[name] = string(behind[at[0]:at[1]])
		}
	}
	return texts, nil
}

// push returns how resources are sent, according to the request.
func (q *request) push() (lint.Push, error) { return lint.ParsePush(q.Transport, q.Versions) }
