package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/parallel"
	"github.com/xdslint/xdslint/internal/reserve"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
	"github.com/xdslint/xdslint/internal/tree"
)

const (
	emptyFile = "the file is empty"
	unnamed   = "<stdin>" // the name of standard input that was not given one
)

// loader holds the inputs of one load.
type loader struct {
	ctx    context.Context
	opts   Options
	types  graph.Types
	given  map[string][]byte // the only readable files, by name; nil: read the disk
	inputs []*input
	opened map[string]*input         // by their real path: the inputs, and the files that they name
	order  []*input                  // the files that inputs name, in the order in which they were named
	skips  []FileReport              // files that the search left out
	kept   map[*graph.Snapshot]*boot // for the next load

	data     map[string]*graph.DataFile // that data sources name, by their path
	dataSize int64
	unread   map[string]bool // the names of those that were not found
}

// input is one file, read and parsed.
type input struct {
	found
	file     *graph.SourceFile
	format   format
	docs     []*graph.TextNode // of YAML or JSON
	binary   *binary           // of a binary file, or of a proto text
	outline  *graph.TextNode   // of a bootstrap in proto text
	as       content
	main     int             // the index of the document that determines what the file is
	problems []graph.Problem // of the file as a whole
	used     bool            // a bootstrap names this file, so it belongs to that one
	inline   bool            // it is not a file
	outlined bool            // the only document is an outline

	text    []byte        // the parsed text: of the file, or of one key of an object
	objects []*object     // the Kubernetes objects in it that hold xDS
	others  []*object     // the other ones
	no      string        // what it is instead of xDS, if that is known
	object  *graph.Object // the object that holds the text, and the path of the text in it
	within  *graph.Path

	over     *input          // of a bootstrap: what the command line of a container merges over it
	snapshot *graph.Snapshot // of a bootstrap
}

func newLoader(ctx context.Context, opts Options) *loader {
	l := &loader{ctx: ctx, opts: opts, types: opts.Types, data: map[string]*graph.DataFile{}, unread: map[string]bool{}}
	if l.types == nil {
		l.types = types.Envoy
	}
	return l
}

func (l *loader) skip(path, why string) {
	l.skips = append(l.skips, FileReport{Path: path, Why: why})
}

// readAll reads and parses the files in parallel.
func (l *loader) readAll(files []found) error {
	l.inputs = make([]*input, len(files))
	var progress sync.Mutex
	return l.parallel(len(files), func(i int) {
		if l.opts.Progress != nil {
			progress.Lock()
			l.opts.Progress(files[i].path)
			progress.Unlock()
		}
		l.inputs[i] = l.read(files[i])
	})
}

// parallel calls f for 0 … n-1 on all processors, until the context ends.
func (l *loader) parallel(n int, f func(i int)) error {
	parallel.Each(l.ctx, n, func() func(int) { return f })
	return l.ctx.Err()
}

func (l *loader) read(f found) *input {
	in := &input{found: f, format: formatOf(f.path)}
	name := f.path
	if f.path == "-" && l.given == nil {
		name = l.opts.StdinName
		if name == "" {
			name = unnamed
		}
		in.format = formatOf(name)
	}
	in.file = &graph.SourceFile{Name: name}
	text, err := l.bytes(f.path)
	if err != nil {
		in.problem(graph.Unreadable, graph.Span{}, "%s", err)
		return in
	}
	l.parse(in, text)
	return in
}

func (l *loader) bytes(path string) ([]byte, error) {
	if l.given != nil {
		return l.given[path], nil
	}
	if path == "-" {
		if l.opts.Stdin == nil {
			return nil, errors.New("there is no standard input")
		}
		return source.Read(l.opts.Stdin, 0)
	}
	if len(l.opts.Texts) > 0 {
		if text, ok := l.opts.Texts[RealPath(path)]; ok {
			return text, nil
		}
	}
	text, err := source.ReadFile(path)
	return text, plainError(err)
}

// plainError returns the error without the operation and the path: the finding names them.
func plainError(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

func (in *input) problem(kind graph.ProblemKind, span graph.Span, text string, args ...any) *graph.Problem {
	in.problems = append(in.problems, graph.Problem{Kind: kind, Span: span, Message: fmt.Sprintf(text, args...)})
	return &in.problems[len(in.problems)-1]
}

// inline returns an input that is not a file.
func (l *loader) inline(name, text string) *input {
	in := &input{found: found{path: name, named: true}, inline: true, format: yamlFormat, file: &graph.SourceFile{Name: name}}
	l.parse(in, []byte(text))
	l.recognise(in)
	return in
}

// parse parses a text in the encoding that the extension names, or else in the one that the content looks like.
func (l *loader) parse(in *input, text []byte) {
	if len(text) == 0 {
		in.problem(graph.Unreadable, graph.Span{}, emptyFile)
		return
	}
	if bytes.HasPrefix(text, []byte("-----BEGIN ")) {
		in.no = "it holds a certificate or a key"
		return
	}
	if in.format == unknownFormat {
		in.format = guess(text)
	}
	if in.format == binaryFormat {
		in.binary = recogniseBinary(text)
		return
	}
	if in.format == yamlFormat {
		text = fromUTF16(text)
	}
	in.file.Text, in.text = text, text
	if !in.inline && in.object == nil && isRecording(in.file) {
		in.as = recording
		return
	}
	if in.format == yamlFormat && in.object == nil && !in.inline {
		docs, err := outlined(in)
		l.parsed(in, docs, err)
		return
	}
	docs, err := parsers[in.format](in.file)
	l.parsed(in, docs, err)
}

// parsed takes what a parser returned.
func (l *loader) parsed(in *input, docs []*graph.TextNode, err error) {
	if in.guessed() && (err != nil || len(docs) > 0 && docs[0].Kind == tree.String) {
		if other, otherErr := syntax.ParseProtoText(in.file); otherErr == nil {
			docs, err, in.format = other, nil, textFormat
		}
	}
	switch {
	case err != nil:
		in.docs = docs
		in.syntax(err)
	case in.format == textFormat:
		l.protoText(in, docs[0])
	default:
		in.docs = docs
		l.reserveAliases(in)
	}
}

// reserveAliases waits for the memory of the messages that aliases repeat.
func (l *loader) reserveAliases(in *input) {
	repeated := func() int {
		if !bytes.ContainsRune(in.text, '*') {
			return 0
		}
		return max(0, collections(in.docs)-reserve.ValuesIn(in.text))
	}
	if !reserve.Values(l.ctx, repeated) {
		in.docs = nil
	}
}

// collections counts maps and lists, each time that an alias repeats them.
func collections(docs []*graph.TextNode) (n int) {
	for _, doc := range docs {
		n += tree.Collections(doc)
	}
	return n
}

// fromUTF16 converts a text that begins with the byte order mark of UTF-16 to UTF-8, and returns any other text
// unchanged. Envoy accepts YAML in UTF-16 (not JSON or proto text), and Windows writes it. Offsets in such a file refer
// to the UTF-8 text; lines and columns are the same in both.
func fromUTF16(text []byte) []byte {
	high, low := 0, 1 // places of the two bytes of a unit
	switch {
	case bytes.HasPrefix(text, []byte{0xff, 0xfe}) && !bytes.HasPrefix(text, []byte{0xff, 0xfe, 0, 0}): // with two zeros it is UTF-32
		high, low = 1, 0
	case !bytes.HasPrefix(text, []byte{0xfe, 0xff}):
		return text
	}
	unit := func(at int) rune { return rune(text[at+high])<<8 | rune(text[at+low]) }
	out := make([]byte, 0, len(text)/2)
	for at := 2; at+1 < len(text); at += 2 {
		r := unit(at)
		if utf16.IsSurrogate(r) && at+3 < len(text) {
			if pair := utf16.DecodeRune(r, unit(at+2)); pair != utf8.RuneError {
				r, at = pair, at+2
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

var parsers = map[format]func(*graph.SourceFile) ([]*graph.TextNode, error){
	yamlFormat: syntax.ParseYAML,
	jsonFormat: syntax.ParseJSON,
	textFormat: syntax.ParseProtoText,
}

// guessed reports whether the file's name does not determine its encoding.
func (in *input) guessed() bool { return formatOf(in.file.Name) == unknownFormat }

func (in *input) syntax(err error) {
	var fault *syntax.Error
	if !errors.As(err, &fault) {
		fault = &syntax.Error{Message: err.Error()}
	}
	if problem, ok := template(in.file, fault); ok {
		in.docs = nil
		in.problems = append(in.problems, problem)
		return
	}
	in.problem(graph.Syntax, fault.Span, "%s", fault.Message)
}

// guess returns the encoding of a file from its content.
func guess(text []byte) format {
	switch start := bytes.TrimLeft(text, " \t\r\n"); {
	case bytes.IndexFunc(text[:min(len(text), 8192)], control) >= 0 && recogniseBinary(text) != nil:
		return binaryFormat
	case bytes.IndexByte(text, 0) >= 0 && bytes.Equal(fromUTF16(text), text): // texts do not have zeros, except for files that were not written to their end
		return binaryFormat
	case len(start) > 0 && (start[0] == '{' || start[0] == '['):
		return jsonFormat
	}
	return yamlFormat
}

// control reports whether a character does not occur in texts, or is not valid UTF-8.
func control(r rune) bool { return r < ' ' && (r < '\t' || r > '\r') || r == utf8.RuneError }
