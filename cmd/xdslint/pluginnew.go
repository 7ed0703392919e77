package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint/cmd/xdslint/internal/scaffold"
)

func newPluginNew() *cobra.Command {
	var lang string
	cmd := &cobra.Command{
		Use: "new --lang go|rust DIR", Short: "Create a plugin with two example rules", DisableFlagsInUseLine: true,
		Long: `Create a plugin in DIR with two rules, their examples and the SDK. It builds as it is; replace the rules with your own.
Nothing is overwritten.`,
		Example: `  xdslint plugin new --lang go custom-rules
  xdslint plugin new --lang rust custom-rules`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("plugin new needs the folder to write to")
			}
			language, err := languageOf(lang)
			if err != nil {
				return err
			}
			if err := writeProject(args[0], language); err != nil {
				return err
			}
			return failed(nextSteps(cmd.OutOrStdout(), args[0], language))
		},
	}
	cmd.Flags().StringVar(&lang, "lang", "", "`LANGUAGE` of the plugin: "+strings.Join(languageNames(), ", "))
	complete(cmd, "lang", languageNames())
	return cmd
}

func languageNames() (names []string) {
	for _, l := range scaffold.Languages {
		names = append(names, l.Name)
	}
	return names
}

func languageOf(name string) (scaffold.Language, error) {
	i := slices.Index(languageNames(), name)
	switch {
	case name == "":
		return scaffold.Language{}, fmt.Errorf("plugin new needs --lang: %s", strings.Join(languageNames(), " or "))
	case i < 0:
		return scaffold.Language{}, fmt.Errorf("--lang %s: the languages are %s", name, strings.Join(languageNames(), " and "))
	}
	return scaffold.Languages[i], nil
}

// writeProject writes all files, or none if one of them exists.
func writeProject(dir string, language scaffold.Language) error {
	files := language.Files(projectName(dir))
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s already exists: choose another folder", path)
		}
	}
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return failed(err)
		}
		if err := writeNew(path, f.Text, 0o644); err != nil {
			return failed(err)
		}
	}
	return nil
}

var notInNames = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-z0-9]+`) })

// projectName turns the name of a folder into one that is valid in any language.
func projectName(dir string) string {
	if full, err := filepath.Abs(dir); err == nil {
		dir = full
	}
	name := strings.Trim(notInNames().ReplaceAllString(strings.ToLower(filepath.Base(dir)), "-"), "-")
	if name == "" {
		return "rules"
	}
	return name
}

func nextSteps(w io.Writer, dir string, language scaffold.Language) error {
	_, err := fmt.Fprintf(w, "%s: a plugin in %s. Build it, run its examples, and lint with it:\n\n", dir, strings.ToUpper(language.Name[:1])+language.Name[1:])
	if err != nil {
		return err
	}
	for _, command := range []string{"cd " + shellWord(dir), language.Build, "xdslint plugin test .", "xdslint --plugin rules.wasm PATH…"} {
		if _, err := fmt.Fprintln(w, "  "+command); err != nil {
			return err
		}
	}
	return nil
}

var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._/-]+$`) })

// shellWord quotes a text unless a shell reads it as one word.
func shellWord(s string) string {
	if plainWord().MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
