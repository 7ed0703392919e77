package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReadme: the plan that the README shows is what the command prints.
func TestReadme(t *testing.T) {
	t.Chdir("../..")
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)\\$ go run ./cmd/xdslint (plan [^\n]*)\n(.*?)```").FindSubmatchIndex(readme)
	if block == nil {
		t.Fatal("the README shows no plan")
	}
	var out bytes.Buffer
	root := newRoot()
	root.SetArgs(strings.Fields(string(readme[block[2]:block[3]])))
	root.SetOut(&out)
	_ = root.ExecuteContext(t.Context()) // it has hazards
	if *update {
		text := append(append(bytes.Clone(readme[:block[4]]), out.Bytes()...), readme[block[5]:]...)
		if err := os.WriteFile("README.md", text, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(readme[block[4]:block[5]]), out.String()); diff != "" {
		t.Errorf("go test ./cmd/xdslint -update writes it:\n%s", diff)
	}
}
