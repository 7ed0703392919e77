package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/drawing"
	"github.com/xdslint/xdslint/internal/nearest"
)

type graphFlags struct {
	inputFlags
	format, from string
	depth        int
}

// drawings are the formats of a graph.
var drawings = map[string]func(*drawing.Drawing, io.Writer) error{
	"dot": (*drawing.Drawing).Dot, "mermaid": (*drawing.Drawing).Mermaid, "json": (*drawing.Drawing).JSON,
}

var drawingNames = []string{"dot", "mermaid", "json"}

func newGraph() *cobra.Command {
	f := &graphFlags{}
	cmd := &cobra.Command{
		Use: "graph PATH…", Short: "Draw the references between resources", Args: cobra.ArbitraryArgs, DisableFlagsInUseLine: true,
		Long: `Draw the references between resources: listeners, route configurations, clusters and what else they name. Names
that do not exist are drawn as missing.

Exit status: 0 drawn, 1 a file could not be read, so what it holds is not drawn, 2 the command line is wrong, 3 xdslint
failed.`,
		Example: `  xdslint graph envoy.yaml | dot -Tsvg > envoy.svg
  xdslint graph --format mermaid --from listener/ingress --depth 2 configs/`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.add(cmd)
	f.addRecording(cmd.Flags())
	flags := cmd.Flags()
	grouped(flags, outputGroup, func() {
		flags.StringVar(&f.format, "format", "dot", "`FORMAT` of the drawing: dot, mermaid, json")
		flags.StringVar(&f.from, "from", "", "draw only what is reachable from `KIND/NAME`")
		flags.IntVar(&f.depth, "depth", -1, "follow at most `N` references from there; -1: all")
	})
	complete(cmd, "format", drawingNames)
	return cmd
}

func (f *graphFlags) run(cmd *cobra.Command, args []string) error {
	draw, ok := drawings[f.format]
	if !ok {
		return unknownFormat(f.format, drawingNames)
	}
	if f.from == "" && cmd.Flags().Changed("depth") {
		return fmt.Errorf("--depth needs --from KIND/NAME")
	}
	read, err := f.given(cmd, args)
	if err != nil {
		return err
	}
	drawing := drawing.Of(read.Snapshots)
	if f.from != "" {
		if drawing, err = f.cut(drawing); err != nil {
			return err
		}
	}
	if err := draw(drawing, cmd.OutOrStdout()); err != nil {
		return failed(err)
	}
	return f.ended(false)
}

func (f *graphFlags) cut(d *drawing.Drawing) (*drawing.Drawing, error) {
	kindName, name, ok := strings.Cut(f.from, "/")
	if !ok {
		return nil, fmt.Errorf("--from %s: write KIND/NAME, such as listener/ingress", f.from)
	}
	kind, err := config.ParseKind(kindName)
	if err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	cut, ok := d.From(kind, name, f.depth)
	if !ok {
		var names []string
		for _, n := range d.Nodes {
			if n.Kind == kind {
				names = append(names, n.Name)
			}
		}
		return nil, fmt.Errorf("--from: there is no %s %q%s", kind, name, nearest.DidYouMean(name, names))
	}
	return cut, nil
}
