package explain

import (
	"fmt"
	"strings"

	"github.com/xdslint/xdslint/lint"
)

// Flags are the flags of the command for an example.
type Flags struct {
	Assume, Open, Closed []string
	Targets              []string
	Profile              string
	Root, Now            string
	Push                 lint.Push // if the example is a push; zero: the defaults
}

// flagsOf reads the flags of an example from its archive: its own, or those of all examples.
func flagsOf(text, example string) (f Flags, err error) {
	var own, all []string
	for line := range strings.Lines(text) {
		name, flag, one := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case !one:
			all = append(all, name)
		case name == example:
			own = append(own, flag)
		}
	}
	if own == nil {
		own = all
	}
	for _, line := range own {
		if err := f.add(line); err != nil {
			return f, err
		}
	}
	return f, nil
}

func (f *Flags) add(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "assume":
		f.Assume = append(f.Assume, rest)
	case "open":
		f.Open = append(f.Open, rest)
	case "closed":
		f.Closed = append(f.Closed, rest)
	case "target":
		f.Targets = append(f.Targets, rest)
	case "profile":
		f.Profile = rest
	case "root":
		f.Root = rest
	case "now":
		f.Now = rest
	case "push":
		transport, versions, _ := strings.Cut(rest, " ")
		f.Push = lint.Push{Transport: lint.Transport(transport), Versions: lint.VersionPolicy(versions)}
	default:
		return fmt.Errorf("flags: %q is not one of assume KIND:GLOB, open KIND, closed KIND, target PLANE:VERSION", line)
	}
	return nil
}

// String returns the flags as on the command line.
func (f Flags) String() string {
	var words []string
	for _, flag := range []struct {
		name   string
		values []string
	}{{"assume", f.Assume}, {"open", f.Open}, {"closed", f.Closed}, {"target", f.Targets}} {
		for _, value := range flag.values {
			words = append(words, "--"+flag.name, value)
		}
	}
	for _, flag := range []struct{ name, value string }{{"profile", f.Profile}, {"root", f.Root}, {"now", f.Now}} {
		if flag.value != "" {
			words = append(words, "--"+flag.name, flag.value)
		}
	}
	if f.Push != (lint.Push{}) {
		words = append(words, "--transport", string(f.Push.Transport), "--versions", string(f.Push.Versions))
	}
	return strings.Join(words, " ")
}

// Settings returns a configuration with the same profile and date, and the same assumptions about what exists besides the example; empty if there are
// none.
func (f Flags) Settings() string {
	var b strings.Builder
	if f.Profile != "" {
		fmt.Fprintf(&b, "profile: %s\n", f.Profile)
	}
	if f.Now != "" {
		fmt.Fprintf(&b, "now: %q\n", f.Now)
	}
	for _, key := range []struct {
		name   string
		values []string
	}{{"assume", f.Assume}, {"open", f.Open}, {"closed", f.Closed}} {
		for i, value := range key.values {
			if i == 0 {
				b.WriteString(key.name + ":\n")
			}
			fmt.Fprintf(&b, "- %q\n", value)
		}
	}
	return b.String()
}
