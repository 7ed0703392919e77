// Package release tries what others call by a file in the repository's root: the pre-commit hooks and the GitHub Action.
package release

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
)

const (
	good = "static_resources: {clusters: [{name: backend, type: STATIC, connect_timeout: 1s}]}\n"
	bad  = "static_resources: {clusters: [{name: backend, typ: STATIC, connect_timeout: 1s}]}\n"

	finding = "schema/unknown-field" // what bad has
)

func TestPreCommit(t *testing.T) {
	hooks := copyOfRepository(t)
	revision := strings.TrimSpace(run(t, hooks, nil, "git", "rev-parse", "HEAD").must(t))
	installed := t.TempDir()
	// As make does it: without the paths of folders in them, what was compiled here serves the copy of the repository too.
	trimmed := "GOFLAGS=-trimpath"
	run(t, root(t), []string{trimmed}, "go", "build", "-o", installed, "./cmd/xdslint").must(t)
	// The hook's environment has a GOPATH of its own; the modules are here already.
	modules := strings.TrimSpace(run(t, root(t), nil, "go", "env", "GOMODCACHE").must(t))
	env := []string{
		trimmed, "PRE_COMMIT_HOME=" + t.TempDir(), "GOMODCACHE=" + modules,
		"PATH=" + installed + string(filepath.ListSeparator) + os.Getenv("PATH"),
	}
	for _, hook := range []string{"xdslint", "xdslint-system"} {
		for name, text := range map[string]string{"good": good, "bad": bad} {
			t.Run(hook+"/"+name, func(t *testing.T) {
				project := t.TempDir()
				write(t, project, ".xdslint.yaml", "paths: [envoy]\n")
				write(t, project, "envoy/bootstrap.yaml", text)
				write(t, project, "elsewhere.yaml", bad) // not among the paths
				write(t, project, ".pre-commit-config.yaml", fmt.Sprintf("repos: [{repo: %q, rev: %s, hooks: [{id: %s}]}]\n", hooks, revision, hook))
				commit(t, project)
				got := run(t, project, env, tool(t, "pre-commit"), "run", "--all-files")
				checkRun(t, got, text, "Passed")
			})
		}
	}
}

func TestActionlint(t *testing.T) {
	// Without what happens to be installed, so that it finds the same everywhere.
	lint := func(dir string) result {
		return run(t, dir, nil, tool(t, "actionlint"), "-shellcheck=", "-pyflakes=", "-no-color")
	}
	lint(root(t)).must(t)

	// It reads action.yml where a workflow uses it: an input that the action lacks must be found.
	dir := t.TempDir()
	action, err := os.ReadFile(filepath.Join(root(t), "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "action.yml", string(action))
	write(t, dir, ".github/workflows/ci.yml", `on: push
jobs:
  x:
    runs-on: ubuntu-24.04
    steps:
    - uses: ./
      with: {paths: a, args: b, nonesuch: c}
`)
	commit(t, dir)
	got := lint(dir)
	if got.err == nil || strings.Count(got.out, "[action]") != 1 || !strings.Contains(got.out, `"nonesuch" is not defined`) {
		t.Errorf("want one complaint, about nonesuch; got %v\n%s", got.err, got.out)
	}
}

// The steps of the action, run as a runner would.
func TestAction(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Runs struct {
			Using string
			Steps []struct {
				Run, Shell, Uses string
				WorkingDirectory string `yaml:"working-directory"`
				Env              map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"good": good, "bad": bad} {
		t.Run(name, func(t *testing.T) {
			project := t.TempDir()
			write(t, project, "a/bootstrap.yaml", text)
			write(t, project, "b/bootstrap.yaml", good)
			value := strings.NewReplacer(
				"${{ github.action_path }}", root(t),
				"${{ inputs.paths }}", "a/*.yaml  b", "${{ inputs.args }}", "--target envoy:1.40",
			)
			var last result
			for _, step := range action.Runs.Steps {
				if step.Uses != "" {
					continue
				}
				last.must(t)
				dir := project
				if step.WorkingDirectory != "" {
					dir = value.Replace(step.WorkingDirectory)
				}
				env := []string{"RUNNER_TEMP=" + filepath.Dir(project)}
				for k, v := range step.Env {
					env = append(env, k+"="+value.Replace(v))
				}
				last = run(t, dir, env, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", value.Replace(step.Run))
			}
			checkRun(t, last, text, "")
			if text == bad && !strings.Contains(last.out, "::error file=a/bootstrap.yaml,line=1") {
				t.Errorf("no annotation:\n%s", last.out)
			}
		})
	}
}

// checkRun wants the finding of a bad text and a failure, or no finding and what a success prints.
func checkRun(t *testing.T, got result, text, success string) {
	t.Helper()
	if text == good && (got.err != nil || !strings.Contains(got.out, success)) {
		t.Errorf("a good snapshot does not pass: %v\n%s", got.err, got.out)
	}
	if text == bad && (got.err == nil || !strings.Contains(got.out, finding) || strings.Contains(got.out, "elsewhere")) {
		t.Errorf("want a failure with %s in bootstrap.yaml alone; got %v\n%s", finding, got.err, got.out)
	}
}

type result struct {
	out string // stdout and stderr
	err error
}

func (r result) must(t *testing.T) string {
	t.Helper()
	if r.err != nil {
		t.Fatalf("%v\n%s", r.err, r.out)
	}
	return r.out
}

func run(t *testing.T, dir string, env []string, name string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	// A git hook that runs the tests names its own repository.
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	return result{string(out), err}
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func tool(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(root(t), ".tools", "bin", name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("no %s in .tools/bin: run `make tools`", name)
	}
	return path
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// commit makes a folder a repository with all that is in it.
func commit(t *testing.T, dir string) {
	t.Helper()
	run(t, dir, nil, "git", "init", "-q").must(t)
	run(t, dir, nil, "git", "add", "-A", "-f").must(t)
	run(t, dir, nil, "git", "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "-m", "x").must(t)
}

// copyOfRepository is this checkout as it is now, committed: pre-commit sees what is committed only.
func copyOfRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files := run(t, root(t), nil, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").must(t)
	for name := range strings.SplitSeq(strings.TrimRight(files, "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root(t), name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted and not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, name, string(text))
	}
	commit(t, dir)
	return dir
}
