// Package plugin runs rules that users compile to WebAssembly. A plugin is judged to be hostile: it has no files, no network, no clock and no
// randomness, and memory and time only up to a limit; whatever it does or answers becomes one finding about it at most.
package plugin

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/xdslint/xdslint/internal/decode"
	envoytypes "github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
)

// Limits of a plugin.
const (
	MaxModule   = 64 << 20         // bytes of the module
	MaxMemory   = 256 << 20        // bytes of memory of one instance
	MaxTime     = 10 * time.Second // of a call: to describe itself, or to judge a snapshot, its start included
	MaxCompile  = time.Minute      // to compile it, where it is not in the cache
	MaxAnswer   = 16 << 20         // bytes of an answer
	MaxFindings = 10_000           // of one snapshot
	MaxRules    = 1_000
)

// Version is that of the interface: what a plugin's xdslint_version returns.
const Version = 1

// Options are the choices of Open. Zero values are good.
type Options struct {
	// Cache is the folder in which compiled plugins are kept; it is made if it is not there. Nobody else may write to it: what is in it is run. Without it,
	// and where it cannot be used, each Open compiles.
	Cache  string
	Types  decode.Types  // that plugins can read; nil: those of Envoy's API
	Memory int           // bytes, in place of MaxMemory: at most that
	Time   time.Duration // in place of MaxTime
}

func (o *Options) fill() {
	if o.Types == nil {
		o.Types = envoytypes.Envoy
	}
	if o.Memory <= 0 || o.Memory > MaxMemory {
		o.Memory = MaxMemory
	}
	if o.Time <= 0 {
		o.Time = MaxTime
	}
}

// Plugin is a compiled module. It is safe for concurrent use: each call has an instance of its own, with a memory of its own.
type Plugin struct {
	options Options
	machine *machine
	rules   []*lint.Rule
	types   map[string]bool // full names of the messages that it reads
}

// Open compiles the module that a file holds, and asks it for its rules. An error says what is wrong with the plugin, and begins with the file's name.
// That no rule has a built-in group or the id of another house rule is for the caller to find out. Call Close in the end.
func Open(ctx context.Context, f *source.File, options Options) (*Plugin, error) {
	options.fill()
	p := &Plugin{options: options}
	err := p.open(ctx, f)
	if err == nil {
		return p, nil
	}
	if p.machine != nil {
		err = errors.Join(err, p.Close(context.WithoutCancel(ctx)))
	}
	return nil, fmt.Errorf("%s: %w", f.Name, err)
}

func (p *Plugin) open(ctx context.Context, f *source.File) error {
	if len(f.Text) > MaxModule {
		return fmt.Errorf("is larger than %s", size(MaxModule))
	}
	module, err := harmless(f.Text, p.options.Memory)
	if err != nil {
		return err
	}
	p.machine, err = compile(ctx, module, p.options)
	if err != nil && p.options.Cache != "" && ctx.Err() == nil && !errors.Is(err, errSlow) {
		// Perhaps what is in the cache is broken, or it cannot be written to: that is no reason not to lint.
		p.options.Cache = ""
		p.machine, err = compile(ctx, module, p.options)
	}
	if err != nil {
		return err
	}
	if err := p.checkInterface(); err != nil {
		return err
	}
	raw, why := p.describe(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case why != nil:
		return errors.New(strings.Join(append(append([]string{why.Message}, why.Notes...), p.isProgram()...), "; "))
	}
	// The file is only named: a module is no text to show lines of.
	origin := &lint.Origin{Name: "plugin " + path.Base(filepath.ToSlash(f.Name)), File: &source.File{Name: f.Name}}
	return p.understand(raw, origin)
}

// Rules that the plugin has, in its own order. All have the same check and the same origin.
func (p *Plugin) Rules() []*lint.Rule { return p.rules }

// Close frees what Open has made. No run may use the rules any more.
func (p *Plugin) Close(ctx context.Context) error { return p.machine.close(ctx) }
