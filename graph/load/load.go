// Package load makes snapshots of what people have: bootstraps and the files they name, discovery responses, bare
// resources, config_dumps. What an input is, its content tells.
package load

import (
	"context"
	"io"
	"maps"
	"slices"

	"github.com/xdslint/xdslint/graph"
)

// Options of a load. The zero value reads what the paths name, as Envoy would.
type Options struct {
	Root        string            // stands for "/" in the paths that a bootstrap names
	ConfigYAML  string            // Envoy's --config-yaml: merged over each bootstrap
	Types       graph.Types       // nil: those of Envoy's v3 API; see Descriptors
	Assumptions graph.Assumptions // of every snapshot
	Stdin       io.Reader         // what the path "-" reads
	StdinName   string            // its name in findings
	Texts       map[string][]byte // read in place of files, by their RealPath
	// Progress, if set, is called with each file before it is read.
	Progress func(path string)
}

// Input is what was read.
type Input struct {
	Snapshots []*graph.Snapshot // built; each is judged alone
	Files     []FileReport      // every file that was looked at, in order
}

// FileReport says what a file was taken for.
type FileReport struct {
	Path string
	As   string // "bootstrap", "discovery response (Cluster)", "config_dump", … ; empty: skipped
	Why  string // of a skip
	// Followed: the paths do not lead to it, a bootstrap names it.
	Followed bool
}

// Paths reads files, folders (recursively) and globs. A path that does not exist is an error; whatever is wrong inside a
// file becomes a Problem of a resource, and so a finding.
func Paths(ctx context.Context, paths []string, opts Options) (*Input, error) {
	l := newLoader(ctx, opts)
	found, err := l.find(paths)
	if err != nil {
		return nil, err
	}
	if err := l.readAll(found); err != nil {
		return nil, err
	}
	return l.input()
}

// Texts reads texts by their names, as Paths reads files, and nothing else: of a file that a bootstrap names and that is not among them,
// nothing is known. A path in a bootstrap means the text of that name, or else the one beside the bootstrap with the same last part, since
// who gives a few files does not say where they will lie.
func Texts(ctx context.Context, texts map[string][]byte, opts Options) (*Input, error) {
	l := newLoader(ctx, opts)
	l.given = texts
	var all []found
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		all = append(all, found{path: name, named: true})
	}
	if err := l.readAll(all); err != nil {
		return nil, err
	}
	return l.input()
}
