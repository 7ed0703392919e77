package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/xdslint/xdslint/custom"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/protocol"
	"github.com/xdslint/xdslint/internal/ruletest"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
	"github.com/xdslint/xdslint/wasm/plugin"
)

func (f *inputFlags) addPlugins(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.plugins, "plugin", nil, "WebAssembly `FILE` with custom rules; can be repeated")
	flags.BoolVar(&f.noPlugins, "no-plugins", false, "do not run the plugins that the configuration names")
}

// customRules creates the rules that are not built in: from the constraints and plugins of the configuration, and the plugins of the
// command line.
func (f *inputFlags) customRules(ctx context.Context) (config.RuleSource, error) {
	if f.noPlugins && len(f.plugins) > 0 {
		return nil, errors.New("--plugin and --no-plugins cannot be used together")
	}
	known, err := types(f.descriptors)
	plugins := opener{ctx, known}
	configured := plugins.configured
	if f.noPlugins {
		configured = f.standIns
	}
	return config.Join(custom.Constraints(reserved(), known), configured, plugins.given(f.plugins)), err
}

// standIns returns rules that never run, with the names that the configuration has for those of its plugins. Without
// them it would name rules that do not exist.
func (f *inputFlags) standIns(s *config.Config) (all []*lint.Rule, _ []*config.Fault) {
	if len(s.Plugins) == 0 {
		return nil, nil
	}
	names := slices.Collect(maps.Keys(s.Severities))
	for i := range s.Ignores {
		names = append(names, s.Ignores[i].Rule)
	}
	for _, name := range names {
		if !strings.Contains(name, "/") {
			name += "/*" // a group
		}
		id := strings.ReplaceAll(name, "*", "any")
		group, rule, err := config.ParseID(id, reserved())
		if err != nil || slices.Contains(f.unavailable, id) || slices.ContainsFunc(s.Constraints, func(c config.Constraint) bool { return c.ID == id }) {
			continue
		}
		f.unavailable = append(f.unavailable, id)
		all = append(all, &lint.Rule{Group: group, Name: rule, Severity: lint.Error, Summary: "a rule of a plugin that does not run", Origin: &lint.Origin{Name: "rule " + id, File: s.File}})
	}
	return all, nil
}

// builtIn returns the rules that do not come from a configuration or plugin.
func builtIn() []*lint.Rule { return custom.Rules(rules.All()) }

// reserved returns the rules whose groups custom rules cannot use.
func reserved() []*lint.Rule { return slices.Concat(rules.All(), clauses()) }

// known returns all rules that can be selected: built-in and custom ones.
func known(s *config.Config) []*lint.Rule { return append(builtIn(), s.Custom...) }

// listed returns all rules that have a page: the known ones, and the clauses of the protocol.
func listed(s *config.Config) []*lint.Rule { return slices.Concat(builtIn(), clauses(), s.Custom) }

// groups of rules: the built-in ones, and those of custom rules.
func groups(all []*lint.Rule) []*lint.Group {
	groups := slices.Concat(rules.Groups, rules.Meta, []*lint.Group{protocol.Rules()})
	for _, r := range all {
		if r.Origin != nil && !slices.ContainsFunc(groups, func(g *lint.Group) bool { return g.Name == r.Group }) {
			groups = append(groups, &lint.Group{Name: r.Group, Summary: "custom rules"})
		}
	}
	return groups
}

// withExamples sets the folder of each rule's examples.
func withExamples(s *config.Config) {
	for _, r := range s.Custom {
		r.Origin.Examples = os.DirFS(filepath.Join(filepath.Dir(r.Origin.File.Name), ruletest.Folder))
	}
}

// opener opens plugins, until the context ends.
type opener struct {
	ctx   context.Context
	known decode.Types // nil: those of Envoy's API
}

// configured opens the plugins that a configuration names.
func (o opener) configured(s *config.Config) (all []*lint.Rule, faults []*config.Fault) {
	for i := range s.Plugins {
		p := &s.Plugins[i]
		made, err := o.open(pathOf(p, s), p.SHA256)
		if err != nil {
			faults = append(faults, p.Faultf("path", "%s", plain(err)))
		}
		all = append(all, made...)
	}
	return all, faults
}

// pathOf returns the path of a plugin in a configuration.
func pathOf(p *config.Plugin, s *config.Config) string {
	if filepath.IsAbs(p.Path) {
		return p.Path
	}
	return filepath.Join(filepath.Dir(s.File.Name), p.Path)
}

// given opens the plugins of the command line, except those that are open already because the configuration names them or because
// they are given twice.
func (o opener) given(paths []string) config.RuleSource {
	return func(s *config.Config) (all []*lint.Rule, faults []*config.Fault) {
		var opened []string
		for i := range s.Plugins {
			opened = append(opened, pathOf(&s.Plugins[i], s))
		}
		for _, path := range paths {
			if slices.ContainsFunc(opened, func(other string) bool { return sameFile(path, other) }) {
				continue
			}
			opened = append(opened, path)
			made, err := o.open(path, "")
			if err != nil {
				faults = append(faults, &config.Fault{Message: "--plugin: " + plain(err)})
			}
			all = append(all, made...)
		}
		return all, faults
	}
}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// open returns the rules of a plugin, which stays open until the process ends. If there is a digest, the module must have it.
func (o opener) open(path, digest string) ([]*lint.Rule, error) {
	module, err := readPlugin(path)
	if err != nil {
		return nil, err
	}
	if found := sha256.Sum256(module); digest != "" && !strings.EqualFold(digest, hex.EncodeToString(found[:])) {
		return nil, fmt.Errorf("%s does not have the sha256 in the configuration: it is %x", path, found)
	}
	p, err := plugin.Open(o.ctx, &source.File{Name: path, Text: module}, plugin.Options{Cache: pluginCache(), Types: o.known})
	if err != nil {
		return nil, err
	}
	for _, r := range p.Rules() {
		if _, _, err := config.ParseID(r.ID(), reserved()); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return p.Rules(), nil
}

func readPlugin(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, plugin.MaxModule+1)) // Open rejects a larger one
}

// pluginCache returns the folder of compiled plugins, to which only the user can write, or "" if there is none.
func pluginCache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	dir = filepath.Join(dir, "xdslint", "plugins")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return ""
	}
	return dir
}
