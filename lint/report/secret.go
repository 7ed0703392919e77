package report

import (
	"bytes"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/decode"
	"github.com/xdslint/xdslint/graph/source"
	"github.com/xdslint/xdslint/internal/redact"
	"github.com/xdslint/xdslint/lint"
)

const redaction = "[secret]"

// secrets knows what must not be shown of each file. A file is looked through when something of it is about to be shown.
type secrets struct {
	resources map[*source.File][]*graph.Resource
	files     map[*source.File]*hidden
	all       *hidden // of all files together
}

// hidden is what one file must not show.
type hidden struct {
	spans  []source.Span // sorted by their beginning
	values []string
	broken bool // the file could not be parsed: where its secrets are is guessed from its lines
}

func newSecrets(result *lint.Result) *secrets {
	if len(result.Diagnostics) == 0 { // nothing will be shown
		return &secrets{files: map[*source.File]*hidden{}}
	}
	return allSecrets(result)
}

// Hides tells which lines of the files of a result must not be shown, since they hold a secret. Lines count from 1.
func Hides(result *lint.Result) func(f *source.File, line int) bool {
	s := allSecrets(result)
	return func(f *source.File, line int) bool {
		text, start := f.Line(line)
		return s.of(f).hide(text, start)
	}
}

func allSecrets(result *lint.Result) *secrets {
	s := &secrets{resources: map[*source.File][]*graph.Resource{}, files: map[*source.File]*hidden{}}
	known := map[*graph.Resource]bool{}
	add := func(r *graph.Resource) {
		if r != nil && !known[r] {
			known[r] = true
			s.resources[r.File] = append(s.resources[r.File], r)
		}
	}
	for _, snapshot := range result.Snapshots {
		for _, r := range snapshot.Resources {
			add(r)
		}
	}
	for i := range result.Diagnostics {
		add(result.Diagnostics[i].Resource)
		for _, r := range result.Diagnostics[i].Related {
			add(r.Resource)
		}
	}
	return s
}

func (s *secrets) of(f *source.File) *hidden {
	h := s.files[f]
	if h == nil {
		h = &hidden{}
		for _, r := range s.resources[f] {
			h.resource(r)
		}
		h.privateKeys(f.Text)
		sort.Slice(h.spans, func(i, j int) bool { return h.spans[i].Start < h.spans[j].Start })
		h.sort()
		s.files[f] = h
	}
	return h
}

// sort puts longer values first: one may be part of another.
func (h *hidden) sort() {
	slices.Sort(h.values)
	h.values = slices.Compact(h.values)
	sort.SliceStable(h.values, func(i, j int) bool { return len(h.values[i]) > len(h.values[j]) })
}

// ofAll are the secrets of all files.
func (s *secrets) ofAll() *hidden {
	if s.all == nil {
		s.all = &hidden{}
		for f := range s.resources {
			s.all.values = append(s.all.values, s.of(f).values...)
		}
		s.all.sort()
	}
	return s.all
}

// redacted copies the findings of a result, without the secrets in their texts.
func (s *secrets) redacted(result *lint.Result) []lint.Diagnostic {
	all := slices.Clone(result.Diagnostics)
	for i := range all {
		d := &all[i]
		h := s.of(d.Resource.File)
		if d.Rule.Origin != nil || d.Rule == lint.CannotJudge {
			h = s.ofAll() // the rule may say what it likes
		}
		if d.Resource.Object.Secret() && d.Upstream != "" { // in the data plane's own words a value may stand anywhere
			d.Message, d.Upstream = strings.ReplaceAll(d.Message, d.Upstream, redaction), ""
		}
		d.Message, d.Help, d.Upstream = h.redact(d.Message), h.redact(d.Help), h.redact(d.Upstream)
		d.Notes = slices.Clone(d.Notes)
		for j := range d.Notes {
			d.Notes[j] = h.redact(d.Notes[j])
		}
		d.Related = slices.Clone(d.Related)
		for j := range d.Related {
			r := &d.Related[j]
			r.Message = s.of(r.Resource.File).redact(r.Message)
		}
		d.Fixes = slices.DeleteFunc(slices.Clone(d.Fixes), func(fix lint.Fix) bool {
			return slices.ContainsFunc(fix.Edits, func(e lint.Edit) bool { return h.redact(e.New) != e.New })
		})
	}
	return all
}

// redact takes the file's secrets out of a text about it.
func (h *hidden) redact(s string) string {
	for _, v := range h.values {
		if strings.Contains(s, v) {
			s = strings.ReplaceAll(s, v, redaction)
		}
	}
	return redact.Scrub(s, redaction)
}

// hide tells whether a line, which starts at an offset, must not be shown.
func (h *hidden) hide(line []byte, start int) bool {
	end := start + len(line)
	for _, span := range h.spans {
		if span.Start >= end {
			break
		}
		if span.End > start {
			return true
		}
	}
	return redact.Looks(line) || h.broken && likelySecret().Match(line)
}

// likelySecret is for lines of files that could not be parsed.
var likelySecret = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(inline_?(string|bytes)|passwords?|secret|token|private_?key|access_?key|pkcs12)["']?\s*:\s*\S`)
})

// privateKeys hides whole PEM blocks, wherever they stand.
func (h *hidden) privateKeys(text []byte) {
	const mark = "PRIVATE KEY-----"
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte(mark))
		if i < 0 {
			return
		}
		start := at + i
		end := start + len(mark)
		if j := bytes.Index(text[end:], []byte(mark)); j >= 0 {
			end += j + len(mark)
		} else {
			end = len(text)
		}
		h.spans = append(h.spans, source.Span{Start: start, End: end})
		at = end
	}
}

func (h *hidden) resource(r *graph.Resource) {
	switch {
	case r.Object.Secret():
		h.spans = append(h.spans, r.Object.Span)
		h.quoted(r.Text)
	case r.Kind == graph.Patch && r.Text != nil && r.Message.ProtoReflect().Descriptor().FullName() == redact.DataSource:
		h.spans = append(h.spans, r.Text.Span()) // whose it is, and so whether it is one, nobody knows
		h.quoted(r.Text)
	}
	if len(r.Problems) > 0 || r.Message == nil {
		// Parts of it are no message: go by the names of the keys.
		if r.Text == nil {
			h.broken = true
		} else {
			h.node(r.Text, "")
		}
	}
	r.Walk(func(at *graph.Place) {
		for _, fd := range redact.Fields(at.Message.Descriptor()) {
			if at.Message.Has(fd) {
				h.field(r, at, fd)
			}
		}
		h.header(r, at)
	})
}

// header hides the value of a header that carries a credential.
func (h *hidden) header(r *graph.Resource, at *graph.Place) {
	md := at.Message.Descriptor()
	if md.FullName() != redact.HeaderValue {
		return
	}
	key := at.Message.Get(md.Fields().ByName("key")).String()
	for _, name := range []protoreflect.Name{"value", "raw_value"} {
		if fd := md.Fields().ByName(name); at.Message.Has(fd) && redact.Header(key, at.Message.Get(fd).String()) {
			h.field(r, at, fd)
		}
	}
}

func (h *hidden) field(r *graph.Resource, at *graph.Place, fd protoreflect.FieldDescriptor) {
	name, v := string(fd.Name()), at.Message.Get(fd)
	switch {
	case fd.IsList():
		for i := range v.List().Len() {
			h.value(r, at.Path.Item(name, i), fd, v.List().Get(i))
		}
	case fd.IsMap():
		v.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
			h.value(r, at.Path.Entry(name, k.String()), fd.MapValue(), v)
			return true
		})
	default:
		h.value(r, at.Path.Field(name), fd, v)
	}
}

func (h *hidden) value(r *graph.Resource, path *decode.Path, fd protoreflect.FieldDescriptor, v protoreflect.Value) {
	if fd.Message() == nil {
		h.scalar(v)
	} else {
		m := v.Message()
		if fd.Message().FullName() == redact.DataSource {
			// The name of a file or of a variable is no secret.
			inline := m.WhichOneof(m.Descriptor().Oneofs().ByName("specifier"))
			if inline == nil || !strings.HasPrefix(string(inline.Name()), "inline_") {
				return
			}
			path = path.Field(string(inline.Name()))
		}
		h.strings(m)
	}
	if found := r.Locate(path); found.Exact {
		h.spans = append(h.spans, found.Value)
	}
}

// strings collects the texts in a message that is sensitive as a whole.
func (h *hidden) strings(m protoreflect.Message) {
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.IsList():
			for i := range v.List().Len() {
				if fd.Message() != nil {
					h.strings(v.List().Get(i).Message())
				} else {
					h.scalar(v.List().Get(i))
				}
			}
		case fd.IsMap():
		case fd.Message() != nil:
			h.strings(v.Message())
		default:
			h.scalar(v)
		}
		return true
	})
}

// A shorter text than this says nothing by itself, and would be found in every other word.
const minSecret = 4

func (h *hidden) scalar(v protoreflect.Value) {
	switch s := v.Interface().(type) {
	case string:
		h.text(s)
	case []byte:
		h.text(string(s))
	}
}

func (h *hidden) text(s string) {
	if s = strings.TrimSpace(s); len(s) >= minSecret {
		h.values = append(h.values, s)
	}
}

// quoted hides the values in a Kubernetes Secret, where a text quotes them, or has them in parentheses. Bare, they may be any word.
func (h *hidden) quoted(n *decode.Node) {
	if n == nil {
		return
	}
	if n.Text != "" {
		h.values = append(h.values, strconv.Quote(n.Text), "("+n.Text+")")
	}
	for i := range n.Items {
		h.quoted(&n.Items[i])
	}
}

// node looks for secrets by the names of the keys; under is the key that n stands under.
func (h *hidden) node(n *decode.Node, under string) {
	for i := range n.Items {
		item := &n.Items[i]
		key := under
		if n.Kind == decode.Map {
			key = n.Keys[i].Name
			if redact.Key(key, under, item.Kind == decode.String) {
				h.leaves(item)
				continue
			}
		}
		h.node(item, key)
	}
}

func (h *hidden) leaves(n *decode.Node) {
	if n.Kind == decode.String || n.Kind == decode.Number {
		h.spans = append(h.spans, n.Span())
		h.text(n.Text)
	}
	for i := range n.Items {
		if n.Kind == decode.Map && redact.IsPlace(n.Keys[i].Name) {
			continue
		}
		h.leaves(&n.Items[i])
	}
}
