package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/lint"
)

func newConfig() *cobra.Command {
	f := &inputFlags{}
	show := &cobra.Command{
		Use: "show", Short: "Print the configuration that applies here, and its path", Args: noArgs, DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := f.configuration(cmd.Context())
			if err != nil {
				return err
			}
			return failed(showConfig(cmd.OutOrStdout(), s))
		},
	}
	f.addConfig(show.Flags())
	verify := &cobra.Command{
		Use: "verify [FILE]", Short: "Report the mistakes in a configuration", Args: atMostOne, DisableFlagsInUseLine: true,
		Long: `Report the mistakes in a configuration: FILE, or the ` + config.FileName + ` in this folder or above.

Exit status: 0 it is right, 2 the command line or the configuration is wrong, 3 xdslint failed.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			path := findUp(config.FileName)
			if len(args) > 0 {
				path = args[0]
			}
			if path == "" {
				return fmt.Errorf("there is no %s in this folder or above; xdslint init writes one", config.FileName)
			}
			if _, err := f.read(cmd.Context(), path); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: ok\n", path)
			return failed(err)
		},
	}
	return parent(&cobra.Command{Use: "config", Short: "Show, verify or test the configuration"}, show, verify, newConfigTest())
}

// shown is the output of `config show`: the effective configuration, with defaults.
type shown struct {
	Paths         []string            `yaml:"paths,omitempty"`
	Targets       []string            `yaml:"targets"`
	TargetsByPath map[string][]string `yaml:"targets-by-path,omitempty"`
	Profile       string              `yaml:"profile,omitempty"`
	FailOn        string              `yaml:"fail-on"`
	Severities    map[string]string   `yaml:"severities,omitempty"`
	Ignores       []shownIgnore       `yaml:"ignores,omitempty"`
	Assume        []string            `yaml:"assume,omitempty"`
	Open          []string            `yaml:"open,omitempty"`
	Closed        []string            `yaml:"closed,omitempty"`

	Constraints []shownConstraint `yaml:"constraints,omitempty"`
	Plugins     []shownPlugin     `yaml:"plugins,omitempty"`
}

type shownConstraint struct {
	ID         string   `yaml:"id"`
	Message    string   `yaml:"message,omitempty"`
	Field      string   `yaml:"field,omitempty"`
	Snapshot   string   `yaml:"snapshot,omitempty"`
	Resource   string   `yaml:"resource,omitempty"`
	Expression string   `yaml:"expression"`
	Text       string   `yaml:"text,omitempty"`
	Severity   string   `yaml:"severity"`
	Help       string   `yaml:"help,omitempty"`
	Why        string   `yaml:"why,omitempty"`
	Links      []string `yaml:"links,omitempty"`
}

type shownPlugin struct {
	Path   string `yaml:"path"`
	SHA256 string `yaml:"sha256,omitempty"`
}

type shownIgnore struct {
	Rule     string `yaml:"rule"`
	Resource string `yaml:"resource,omitempty"`
	Field    string `yaml:"field,omitempty"`
	Reason   string `yaml:"reason"`
}

func showConfig(w io.Writer, s *config.Config) error {
	from := "no " + config.FileName + " was found: these are the defaults"
	if s.File != nil {
		from = s.File.Name
	}
	out := shown{
		Paths: s.Paths, TargetsByPath: s.TargetsByPath, Profile: s.Profile, FailOn: s.FailOn, Severities: s.Severities, Assume: s.Assume, Open: s.Open, Closed: s.Closed,
	}
	targets, err := config.ParseTargets(s.Targets)
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		targets = append(targets, dataplane.Default())
	}
	for _, t := range targets {
		out.Targets = append(out.Targets, t.String())
	}
	if out.FailOn == "" {
		out.FailOn = "error"
	}
	for _, i := range s.Ignores {
		out.Ignores = append(out.Ignores, shownIgnore{i.Rule, i.Resource, i.Field, strings.TrimSpace(i.Reason)})
	}
	for _, c := range s.Constraints {
		out.Constraints = append(out.Constraints, shownConstraint{
			c.ID, c.Message, c.Field, c.Snapshot, c.Resource, c.Expression, c.Text, cmp.Or(c.Severity, lint.Error.String()), c.Help, c.Why, c.Links,
		})
	}
	for _, p := range s.Plugins {
		out.Plugins = append(out.Plugins, shownPlugin{p.Path, p.SHA256})
	}
	text, err := yaml.Dump(out)
	if err != nil {
		return err
	}
	_, err = w.Write(slices.Concat([]byte("# "+from+"\n"), text))
	return err
}
