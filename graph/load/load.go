package load

import (
	"context"
	"io"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/reserve"
)

// Options configure a load. The zero value reads the given paths as Envoy would.
type Options struct {
	Root        string                // replaces "/" in the paths that a bootstrap names
	ConfigYAML  string                // Envoy's --config-yaml: merged over each bootstrap
	Types       graph.Types           // nil: those of Envoy's v3 API; see Descriptors
	Assumptions graph.Assumptions     // of every snapshot
	Stdin       io.Reader             // input for the path "-"
	StdinName   string                // its name in findings
	Untyped     protoreflect.FullName // type of a resource that is a file by itself and does not say what it is; empty: that is an error
	At          time.Time             // of recordings: what clients had been sent by then; an error before the first response; zero: at the end
	Node        string                // of recordings: only the client with this node id, an error if only others are recorded; empty: all
	Texts       map[string][]byte     // read instead of files, by their RealPath
	// Earlier, if set, is what the load takes what has not changed from, and leaves what it has read in.
	Earlier *Earlier
	// Progress, if set, is called with each file before it is read.
	Progress func(path string)
}

// Input is the result of a load.
type Input struct {
	Snapshots []*graph.Snapshot // built; each is judged alone
	Files     []FileReport      // every file that was looked at, in order
	Unread    []string          // files with certificates that the input names, and that are not on this machine
}

// How some files are reported to be read.
const (
	GRPCBootstrap = "gRPC bootstrap" // that of a gRPC client or server
	Recording     = "recording"      // of xDS streams
)

// FileReport says how a file was read.
type FileReport struct {
	Path string
	As   string // "bootstrap", "discovery response (Cluster)", "config_dump", … ; empty: skipped
	Why  string // it was skipped
	// Named: a path names the file itself, not a folder that it is in.
	Named bool
	// Marked: it was skipped, but has the name of an Envoy type, or of the field of a bootstrap with its resources.
	Marked bool
	// Outside: a link leads from a folder that the paths name to the file, which is not in that folder.
	Outside bool
	// Followed: a bootstrap names the file, and the paths do not.
	Followed bool
	// Extension: of a bootstrap whose name makes Envoy read it as JSON, which it is not: the extension that it needs.
	Extension string
}

// Paths reads files, folders (recursively) and globs. A path that does not exist is an error. Problems inside a file do
// not fail the load: they become Problems of a resource, and so findings.
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

// Texts reads texts by their names, as Paths reads files, and never reads the disk. A path in a bootstrap refers to the
// text of that name, or else to the text in the bootstrap's folder with the same last part of the name, since the texts
// do not have their final paths. If neither exists, the content of the file is not known. Messages share the bytes of the
// texts, which must not change.
func Texts(ctx context.Context, texts map[string][]byte, opts Options) (*Input, error) {
	l := newLoader(ctx, opts)
	l.given = texts
	if !reserve.Reading(ctx, slices.Collect(maps.Values(texts))...) {
		return nil, ctx.Err()
	}
	var all []found
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		all = append(all, found{path: name, named: true})
	}
	if err := l.readAll(all); err != nil {
		return nil, err
	}
	return l.input()
}
