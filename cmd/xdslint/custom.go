package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/xdslint/xdslint/custom"
	"github.com/xdslint/xdslint/graph/decode"
	"github.com/xdslint/xdslint/graph/source"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/ruletest"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
	"github.com/xdslint/xdslint/wasm/plugin"
)

func (f *inputFlags) addPlugins(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.plugins, "plugin", nil, "WebAssembly `FILE` with rules of your own; can be repeated")
}

// customRules makes the rules that are not built in: of the configuration's constraints, its plugins, and those of the command line.
func (f *inputFlags) customRules(ctx context.Context) (config.RuleSource, error) {
	known, err := types(f.descriptors)
	plugins := opener{ctx, known}
	return config.Join(custom.Constraints(rules.Known(), known), plugins.configured, plugins.given(f.plugins)), err
}

// groups are those of rules: built-in ones, and those that house rules make up.
func groups(all []*lint.Rule) []*lint.Group {
	groups := slices.Concat(rules.Groups, rules.Others)
	for _, r := range all {
		if r.Origin != nil && !slices.ContainsFunc(groups, func(g *lint.Group) bool { return g.Name == r.Group }) {
			groups = append(groups, &lint.Group{Name: r.Group, Summary: "rules of your own"})
		}
	}
	return groups
}

// withExamples says where each rule's examples are.
func withExamples(s *config.Config) {
	for _, r := range s.Custom {
		r.Origin.Examples = os.DirFS(filepath.Join(filepath.Dir(r.Origin.File.Name), ruletest.Folder))
	}
}

// opener makes rules of plugins. An interruption ends that.
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

// pathOf is where a plugin of a configuration is.
func pathOf(p *config.Plugin, s *config.Config) string {
	if filepath.IsAbs(p.Path) {
		return p.Path
	}
	return filepath.Join(filepath.Dir(s.File.Name), p.Path)
}

// given opens those of the command line. One that the configuration names too, or that is given twice, is open already.
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
				faults = append(faults, &config.Fault{Message: "--plugin " + plain(err)})
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

// open makes the rules of a plugin, which stays open until the process ends. With a digest, it has to be that module.
func (o opener) open(path, digest string) ([]*lint.Rule, error) {
	module, err := readPlugin(path)
	if err != nil {
		return nil, err
	}
	if found := sha256.Sum256(module); digest != "" && !strings.EqualFold(digest, hex.EncodeToString(found[:])) {
		return nil, fmt.Errorf("%s is another module than the one that was meant: its sha256 is %x", path, found)
	}
	p, err := plugin.Open(o.ctx, &source.File{Name: path, Text: module}, plugin.Options{Cache: pluginCache(), Types: o.known})
	if err != nil {
		return nil, err
	}
	for _, r := range p.Rules() {
		if _, _, err := config.ParseID(r.ID(), rules.Known()); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return p.Rules(), nil
}

func readPlugin(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file with a module in it", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, plugin.MaxModule+1)) // Open says that one is too large
}

// pluginCache is the folder of compiled plugins, which only the user may write to; empty where there is none.
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
