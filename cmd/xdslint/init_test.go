package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/custom"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/rules"
)

// What `xdslint init` writes is all comments; without the signs it is valid, and shows every key.
func TestInitText(t *testing.T) {
	var on strings.Builder
	for line := range strings.Lines(initText) {
		if !strings.HasPrefix(line, "#") && strings.TrimSpace(line) != "" {
			t.Errorf("not a comment: %s", line)
		}
		rest := strings.TrimPrefix(line, "# ")
		if strings.Contains(rest, "$schema=") {
			continue // for editors
		}
		if key, _, ok := strings.Cut(rest, ":"); ok && !strings.Contains(strings.TrimSpace(key), " ") || strings.HasPrefix(rest, "- ") {
			on.WriteString(rest)
		}
	}
	s, err := config.Parse(&source.File{Name: config.FileName, Text: []byte(on.String())}, rules.All(), custom.Constraints(rules.All(), nil))
	if err != nil {
		t.Fatalf("%v\n%s", err, on.String())
	}
	for i := range reflect.TypeOf(*s).NumField() {
		if reflect.ValueOf(*s).Field(i).IsZero() {
			t.Errorf("init does not show %s", reflect.TypeOf(*s).Field(i).Tag)
		}
	}
}
