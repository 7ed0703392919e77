// Package envoytest asks a real Envoy, for tests that claim something about Envoy.
//
// Validate judges a bootstrap, Push judges resources sent over ADS, Serve and Start keep an Envoy running so that a test can send
// requests through its listeners. `make tools` installs the binary. Without it, everything here fails with ErrNoEnvoy, so that no
// claim is silently left unchecked.
package envoytest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// Outcome is the result of validating a configuration.
type Outcome string

// The outcomes of Envoy's validate mode.
const (
	Accept  Outcome = "accept"
	Reject  Outcome = "reject"
	Crash   Outcome = "crash"
	Timeout Outcome = "timeout"
)

// Holds is the outcome of evidence that a running Envoy confirms (package internal/evidence).
const Holds Outcome = "holds"

// Verdict is Envoy's judgement of a bootstrap, and the first error that it names.
type Verdict struct {
	Outcome Outcome
	Message string
}

func (v Verdict) String() string {
	if v.Message == "" {
		return string(v.Outcome)
	}
	return string(v.Outcome) + ": " + v.Message
}

// ErrNoEnvoy means that the real Envoy is not installed.
var ErrNoEnvoy = errors.New("no Envoy in .tools/bin: run `make tools`")

// Version is one of the installed Envoys, such as "1.36". The functions of this package use Newest.
type Version string

// Newest is the newest installed Envoy.
const Newest Version = ""

// validateTimeout is generous: a validation takes 50 ms on an idle machine.
const validateTimeout = 2 * time.Minute

// slots limits how many Envoys validate or start at the same time.
var slots = make(chan struct{}, 2)

func acquire(ctx context.Context) (release func(), err error) {
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Binary returns the path of the real Envoy. It searches upwards, since a test runs in its package's folder.
func (v Version) Binary() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	name := "envoy"
	if v != Newest {
		name += "-" + string(v)
	}
	for {
		path := filepath.Join(dir, ".tools", "bin", name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", ErrNoEnvoy
		}
		dir = parent
	}
}

// Thorough reports whether to ask Envoy about everything, and not to trust records: without -short, or if ASK_ENVOY is set, as in CI.
func Thorough() bool { return !testing.Short() || os.Getenv("ASK_ENVOY") != "" }

// Need ends the test if an Envoy is missing: the first test of a package fails and says so, and the others are skipped.
func Need(t testing.TB, versions ...Version) {
	t.Helper()
	if err := Missing(versions...); err != nil {
		missed.Do(func() { t.Fatal(err) })
		t.SkipNow()
	}
}

var missed sync.Once

// Missing returns ErrNoEnvoy if one of the versions, or the newest, is not installed.
func Missing(versions ...Version) error {
	for _, v := range append(versions, Newest) {
		if _, err := v.Binary(); err != nil {
			return err
		}
	}
	return nil
}

// Full returns the version with its patch: 1.40.0.
func (v Version) Full() (string, error) {
	ask, _ := full.LoadOrStore(v, sync.OnceValues(func() (string, error) {
		binary, err := v.Binary()
		if err != nil {
			return "", err
		}
		out, err := exec.Command(binary, "--version").Output()
		parts := strings.Split(string(out), "/") // …/bin/envoy  version: HASH/1.40.0/Clean/RELEASE/BoringSSL
		if err == nil && len(parts) < 5 {
			err = fmt.Errorf("%s --version: %q", binary, out)
		}
		if err != nil {
			return "", err
		}
		return parts[len(parts)-4], nil
	}))
	return ask.(func() (string, error))()
}

var full sync.Map // Version → func() (string, error)

// Validate runs `envoy --mode validate` on a bootstrap file, in the file's folder, since relative paths begin there. Node id, cluster and zone come from
// the command line, so a bootstrap without them is accepted.
func Validate(ctx context.Context, path string) (Verdict, error) { return Newest.Validate(ctx, path) }

// Validate is like the function Validate, with this version.
func (v Version) Validate(ctx context.Context, path string) (Verdict, error) {
	binary, err := v.Binary()
	if err != nil {
		return Verdict{}, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return Verdict{}, err
	}
	release, err := acquire(ctx)
	if err != nil {
		return Verdict{}, err
	}
	defer release()

	limited, cancel := context.WithTimeout(ctx, validateTimeout)
	defer cancel()
	args := append([]string{"-c", path, "--mode", "validate", "-l", "warning"}, nodeFlags...)
	cmd := exec.CommandContext(limited, binary, args...)
	cmd.Dir = filepath.Dir(path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return Verdict{Outcome: Accept}, nil
	case ctx.Err() != nil:
		return Verdict{}, ctx.Err()
	case limited.Err() != nil:
		return Verdict{Outcome: Timeout}, nil
	case !errors.As(err, &exit):
		return Verdict{}, fmt.Errorf("running Envoy: %w", err)
	}
	outcome := Reject
	if crashed(exit) {
		outcome = Crash
	}
	return Verdict{outcome, firstError(stderr.String())}, nil
}

// ValidateText validates the text of a bootstrap. The extension (".yaml", ".json", ".pb_text" …) says which encoding it has.
func ValidateText(ctx context.Context, text, ext string) (Verdict, error) {
	return Newest.ValidateText(ctx, text, ext)
}

// ValidateText is like the function ValidateText, with this version.
func (v Version) ValidateText(ctx context.Context, text, ext string) (Verdict, error) {
	dir, err := os.MkdirTemp("", "envoytest-")
	if err != nil {
		return Verdict{}, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "config"+ext)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return Verdict{}, err
	}
	return v.Validate(ctx, path)
}

var nodeFlags = []string{"--service-node", "n", "--service-cluster", "c", "--service-zone", "z"}

// crashed reports whether Envoy ended by a signal (also if a shell turned that into a status) and did not reject its bootstrap.
func crashed(exit *exec.ExitError) bool {
	code := exit.ExitCode()
	return code < 0 || code == 134 || code == 139
}

var (
	initError = regexp.MustCompile(`(?s)error initializing configuration '[^']*': (.*?)(?:\n\[\d{4}-|\z)`)
	dump      = regexp.MustCompile(`goo\.gle/debug.* : (Proto constraint validation failed)`)
	mark      = regexp.MustCompile(`goo\.gle/debug\w+ `)
)

const maxMessage = 1500

// firstError returns the reason in Envoy's log for rejecting its bootstrap, or else the end of the log.
func firstError(log string) string {
	if found := initError.FindStringSubmatch(log); found != nil {
		message := gist(found[1])
		return message[:min(len(message), maxMessage)]
	}
	log = gist(log)
	return log[max(0, len(log)-maxMessage):]
}

// gist returns a message on one line, without what differs between runs: the mark before a dump, and the dump of a message that violated a constraint.
// (Line and offset after "near" are random too.)
func gist(message string) string {
	line := strings.Join(strings.Fields(message), " ")
	return mark.ReplaceAllString(dump.ReplaceAllString(line, "$1"), "")
}
