package plugin

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/xdslint/xdslint/graph"
	envoytypes "github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
)

// Limits of a plugin.
const (
	MaxModule   = 64 << 20         // bytes of the module
	MaxMemory   = 256 << 20        // bytes of memory of one instance
	MaxTime     = 10 * time.Second // of a call, with the start of the instance: to describe itself or to judge a snapshot
	MaxCompile  = time.Minute      // to compile it, if it is not in the cache
	MaxAnswer   = 16 << 20         // bytes of an answer
	MaxFindings = 10_000           // of one snapshot
	MaxRules    = 1_000
)

// Version is the version of the interface between xdslint and plugins. A plugin's function xdslint_version returns it.
const Version = 1

// Options configure Open. The zero value is ready to use.
type Options struct {
	// Cache is a folder for compiled plugins, which is created if it does not exist. Its content is executed, so no other user may have write access.
	// Without a cache, or if it cannot be used, each Open compiles.
	Cache  string
	Types  graph.Types   // that plugins can read; nil: those of Envoy's API
	Memory int           // in bytes; 0: MaxMemory, which is also the most
	Time   time.Duration // 0: MaxTime
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

// Plugin is a compiled module. It is safe for concurrent use: each call has its own instance, with its own memory.
type Plugin struct {
	options Options
	machine *machine
	rules   []*lint.Rule
	types   map[string]bool // full names of the messages that it reads
}

// Open compiles the module in a file, and asks it for its rules. An error says what is wrong with the plugin, and begins with the file's name. The
// caller has to check that no rule is in a built-in group, or has the id of another custom rule. Call Close when the plugin is no longer needed.
func Open(ctx context.Context, f *graph.SourceFile, options Options) (*Plugin, error) {
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
	module, err := sanitize(f.Text, p.options.Memory)
	if err != nil {
		return err
	}
	p.machine, err = compile(ctx, module, p.options)
	if err != nil && p.options.Cache != "" && ctx.Err() == nil && !errors.Is(err, errSlow) {
		// Perhaps the cache is corrupt, or not writable. Lint without it.
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
		return errors.New(strings.Join(append([]string{why.Error()}, p.isProgram()...), "; "))
	}
	// The file without its content: a module has no lines to show.
	origin := &lint.Origin{Name: "plugin " + path.Base(filepath.ToSlash(f.Name)), File: &source.File{Name: f.Name}}
	return p.understand(raw, origin)
}

// Rules returns the rules of the plugin, in the plugin's order. All have the same Check and the same Origin.
func (p *Plugin) Rules() []*lint.Rule { return p.rules }

// Close frees the plugin. Its rules must not run any more.
func (p *Plugin) Close(ctx context.Context) error { return p.machine.close(ctx) }
