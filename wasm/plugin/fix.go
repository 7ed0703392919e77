package plugin

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/pluginabi"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

// fixes of a finding: those that can be applied to the text.
func (a *answering) fixes(r *graph.Resource, f *pluginabi.Finding) (fixes []lint.Fix, why *lint.EvalError) {
	for _, fix := range f.GetFixes() {
		message := words.Line(fix.GetMessage())
		if message == "" {
			return nil, unablef("has a fix of %s without a message", f.GetRule())
		}
		var all []lint.Edits
		for _, e := range fix.GetEdits() {
			if a.ctx.Err() != nil {
				return nil, a.tooLong()
			}
			edits, err := edit(r, a.contents[f.GetResource()], e)
			if err != nil {
				return nil, unablef("has a fix of %s that cannot change %s in %s: %s", f.GetRule(), quoted(e.GetPath()), a.name(r), err)
			}
			all = append(all, edits)
		}
		edits := lint.Together(all...)
		if overlap(edits) {
			continue
		}
		if fix.GetSafe() {
			fixes = append(fixes, edits.Safe(message)...)
		} else {
			fixes = append(fixes, edits.Likely(message)...)
		}
	}
	return fixes, nil
}

// overlap reports whether edits cannot all be applied.
func overlap(edits lint.Edits) bool {
	sorted := slices.SortedStableFunc(slices.Values(edits), func(a, b lint.Edit) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	for i := 1; i < len(sorted); i++ {
		if sorted[i-1].Span.End > sorted[i].Span.Start {
			return true
		}
	}
	return false
}

func edit(r *graph.Resource, contents graph.Contents, e *pluginabi.Edit) (lint.Edits, error) {
	path, err := pathIn(r, contents, e.GetPath())
	if err != nil {
		return nil, err
	}
	in, name, err := parentOf(path)
	if err != nil {
		return nil, err
	}
	set, ok := e.GetChange().(*pluginabi.Edit_Set)
	if !ok {
		return lint.Remove(at(r, path)), nil
	}
	value, err := parseJSON(set.Set)
	if err != nil {
		return nil, err
	}
	if r.Locate(path).Exact {
		return lint.Replace(at(r, path), value), nil
	}
	return lint.Insert(at(r, in), name, value), nil
}

var errNoJSON = errors.New("its new value is not JSON")

// parseJSON parses what an edit can write: a string, a number, a boolean, or a map of these.
func parseJSON(text string) (any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	value, err := parseValue(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errNoJSON
	}
	return value, nil
}

func parseValue(d *json.Decoder, depth int) (any, error) {
	const deepest = 50
	token, err := d.Token()
	if err != nil {
		return nil, errNoJSON
	}
	switch token {
	case nil, json.Delim('['):
		return nil, errors.New("its new value is null or contains a list, which a fix cannot write")
	case json.Delim('{'):
	default:
		return token, nil
	}
	if depth == deepest {
		return nil, fmt.Errorf("its new value is more than %d maps deep", deepest)
	}
	fields := lint.Fields{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, errNoJSON
		}
		value, err := parseValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		fields = append(fields, lint.Entry{Name: key.(string), Value: value}) // the decoder accepts nothing else as a key
	}
	if _, err := d.Token(); err != nil {
		return nil, errNoJSON
	}
	return fields, nil
}
