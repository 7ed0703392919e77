package load

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/tree"
)

// input makes snapshots of all files that were read.
func (l *loader) input() (*Input, error) {
	result := &Input{}
	for _, in := range l.inputs {
		l.recognise(in)
	}
	slices.SortStableFunc(l.inputs, inOrder)
	if len(l.inputs) == 0 && l.opts.ConfigYAML != "" {
		over := l.inline("--config-yaml", l.opts.ConfigYAML)
		l.opts.ConfigYAML, l.inputs = "", append(l.inputs, over)
	}
	runs := l.runs()
	var err error
	if result.Snapshots, err = l.snapshots(); err != nil {
		return nil, err
	}
	for _, in := range l.inputs {
		more, err := l.manifest(in)
		if err != nil {
			return nil, err
		}
		result.Snapshots = append(result.Snapshots, more...)
	}
	for _, r := range runs {
		r.add()
	}
	for _, in := range l.inputs {
		result.Files = append(result.Files, in.report())
	}
	for _, in := range l.order {
		report := in.report()
		report.Named, report.Followed = false, true
		result.Files = append(result.Files, report)
	}
	result.Files = append(result.Files, l.skips...)
	result.Unread = slices.Sorted(maps.Keys(l.unread))
	for i, s := range result.Snapshots {
		result.Snapshots[i] = l.built(s)
	}
	if e := l.earlier(); e != nil {
		e.forget(l.inputs)
	}
	return result, l.ctx.Err()
}

// snapshots makes one snapshot of each bootstrap, config_dump and client of a recording, and one of everything else.
func (l *loader) snapshots() ([]*graph.Snapshot, error) {
	var all []*graph.Snapshot
	for _, in := range l.inputs {
		s, err := l.own(in)
		if errors.Is(err, errNotPlain) {
			l.readWhole(in)
			s, err = l.own(in)
		}
		if err != nil {
			return nil, err
		}
		if s != nil {
			all = append(all, s)
		}
	}
	recorded, err := l.recorded(all)
	if err != nil {
		return nil, err
	}
	loose, err := l.loose(all)
	if err != nil {
		return nil, err
	}
	if all = append(all, recorded...); len(loose.Resources) > 0 {
		all = append(all, loose)
	}
	return all, nil
}

// own returns the snapshot that a file is, or nil if it is part of another one.
func (l *loader) own(in *input) (*graph.Snapshot, error) {
	switch in.as {
	case bootstrap:
		return l.booted(in)
	case configDump:
		return l.dumped(in)
	}
	return nil, nil
}

// inOrder sorts the files. Only delta responses keep the order of the command line, since they build on each other.
func inOrder(a, b *input) int {
	delta := func(in *input) bool { return in.as == deltaResponse }
	switch {
	case delta(a) && delta(b):
		return 0
	case delta(a):
		return 1
	case delta(b):
		return -1
	}
	return cmp.Compare(filepath.Clean(a.file.Name), filepath.Clean(b.file.Name))
}

// recognise determines what the file is, by its first document that is xDS.
func (l *loader) recognise(in *input) {
	switch {
	case in.as == recording:
		return
	case in.binary != nil:
		in.as = in.binary.as
		return
	}
	for i, doc := range in.docs {
		if in.object == nil {
			l.addObjects(in, doc)
		}
		if as := recognise(doc); in.as == nothing && as != nothing {
			in.as, in.main = as, i
		}
	}
	if in.as == nothing && len(in.objects) > 0 {
		in.as = manifest
	}
	if in.as == bootstrap && in.object == nil {
		in.later()
	}
	if in.object == nil {
		in.file.Unrecognised = in.as == nothing && !hasMark(in.text)
	}
	if in.as == nothing && len(in.others) == 0 && len(in.problems) == 0 && in.no == "" {
		if !in.untyped(l.opts.Untyped) {
			in.unrecognised()
		}
	}
}

// untyped reports whether the file is a map without a type, which is then a resource of the given one.
func (in *input) untyped(name protoreflect.FullName) bool {
	if name == "" || !in.named || len(in.docs) == 0 || in.docs[0].Kind != tree.Map {
		return false
	}
	in.docs[0], in.as, in.file.Unrecognised = typed(in.docs[0], name), resources, false
	return true
}

// typed returns a map with a type.
func typed(n *tree.Node, name protoreflect.FullName) *tree.Node {
	doc := *n
	at := tree.Key{Name: "@type", Start: doc.Start, End: doc.Start}
	doc.Keys, doc.Items = append(slices.Clip(doc.Keys), at), append(slices.Clip(doc.Items), tree.Node{Kind: tree.String, Text: "type.googleapis.com/" + string(name)})
	return &doc
}

// unrecognised decides about a file that is not xDS by its content. A path that names it says that it should be.
func (in *input) unrecognised() {
	doc := &graph.TextNode{}
	if len(in.docs) > 0 {
		doc = in.docs[0]
	}
	if list := doc.Field("resources"); in.named && list != nil && list.Kind == tree.List {
		doc = list
	}
	kind := looksLike(doc)
	if kind != "" {
		in.file.Unrecognised = false
	}
	switch {
	case kind != "" && in.named:
		in.problem(graph.Syntax, firstKey(doc), "%s", untypedResource(kind)).Name = string(kind)
	case kind != "":
		in.no = fmt.Sprintf(`it looks like a %s, but has no "@type"`, kind.Name())
	case in.named && doc.Kind == tree.Map && isForeign(doc):
		in.problem(graph.Syntax, firstKey(doc), "this is not xDS: %s", noXDS)
	case in.named && doc.Kind == tree.Map:
		in.as = bootstrap // Envoy would read it as one, and {} is one
	case in.named:
		in.problem(graph.Syntax, graph.Span{}, "this is not xDS: %s", noXDS)
	}
}

const noXDS = `it is not a bootstrap, discovery response, config_dump or resource with an "@type"`

// later reports what is after the first document of a file, or that this is the bootstrap. In YAML, Envoy does not read that far,
// and problems there are lenient. After JSON, it rejects everything but white space.
func (in *input) later() {
	if in.main > 0 {
		in.problem(graph.Syntax, in.docs[0].Span(), "this is not the bootstrap: Envoy reads only the first document of a file").Name = ignoredDocument
		return
	}
	if in.format == jsonFormat {
		if len(in.docs) > 1 {
			in.problem(graph.Syntax, in.docs[1].Span(), "there is more behind the bootstrap: Envoy reads one JSON value of a file").Name = ignoredDocument
		}
		return
	}
	for i := range in.problems {
		in.problems[i].Lenient = true
	}
	if i := 1 + slices.IndexFunc(in.docs[1:], func(doc *graph.TextNode) bool { return doc.Kind != tree.Null }); i > 0 && len(in.problems) == 0 {
		p := in.problem(graph.Syntax, in.docs[i].Span(), "this document has no effect: Envoy reads only the first one of a file")
		p.Name, p.Lenient = ignoredDocument, true
	}
}

// ignoredDocument is the name of the problem.
const ignoredDocument = "document"

// matters reports whether to report the problems of a file: it was named, or it looks like xDS.
func (in *input) matters() bool {
	if in.named || in.as != nothing {
		return true
	}
	if len(in.problems) > 0 && in.problems[0].Name == "template" && ofKubernetes().Match(in.text) {
		return false // charts have many
	}
	if hasMark(in.text) {
		return true
	}
	return len(in.problems) > 0 && in.file.Text == nil && in.problems[0].Kind == graph.Unreadable && in.problems[0].Message != emptyFile
}

// booted returns the snapshot of a bootstrap and of the files that it names.
func (l *loader) booted(in *input) (*graph.Snapshot, error) {
	a := l.assemble(in.file.Name)
	whole := a.bootstrap(in)
	switch {
	case l.opts.ConfigYAML != "":
		a.overlay(whole, a.inline("--config-yaml", l.opts.ConfigYAML))
	case in.over != nil:
		a.overlay(whole, in.over)
	}
	a.broken(in, graph.Anywhere)
	if err := a.decode(0); err != nil {
		return nil, err
	}
	sources, err := a.follow(in)
	if err != nil {
		return nil, err
	}
	sources.complete(a.snapshot, whole.resource)
	a.keep(in, whole)
	in.snapshot = a.finish()
	return in.snapshot, nil
}

// loose returns one snapshot of all resources that are not part of another one.
func (l *loader) loose(others []*graph.Snapshot) (*graph.Snapshot, error) {
	a := l.assemble("")
	a.snapshot.NoBootstrap = true
	for _, in := range l.inputs {
		if in.used || in.as == bootstrap || in.as == configDump || !in.matters() {
			continue
		}
		a.file(origin{in: in})
	}
	if err := a.decode(0); err != nil {
		return nil, err
	}
	for _, p := range a.parts {
		p.resource.Files = a.dataFiles(p.seen, p.in)
	}
	s := a.finish()
	if len(s.Resources) > 0 {
		s.Assumptions.Names = append(s.Assumptions.Names[:len(s.Assumptions.Names):len(s.Assumptions.Names)], staticNames(others)...)
	}
	return s, nil
}

// staticNames returns the clusters and secrets of bootstraps: loose resources may be for a proxy that has them.
func staticNames(snapshots []*graph.Snapshot) []graph.Assumed {
	var names []graph.Assumed
	for _, s := range snapshots {
		for _, r := range s.Resources {
			if r.Source == graph.Static && r.Name != "" && (r.Kind == graph.Cluster || r.Kind == graph.Secret) {
				names = append(names, graph.Assumed{Kind: r.Kind, Glob: graph.Literal(r.Name)})
			}
		}
	}
	return names
}

func (in *input) report() FileReport {
	report := FileReport{Path: in.file.Name, Named: in.named, Outside: in.outside}
	switch in.as {
	case bootstrap:
		report.As = "bootstrap"
		if in.file.Name != unnamed {
			report.Extension = extensionFor(in.file.Name, in.format)
		}
	case grpcBootstrap:
		report.As = GRPCBootstrap
	case configDump:
		report.As = "config_dump"
	case response:
		report.As = "discovery response" + in.types()
	case deltaResponse:
		report.As = "delta discovery response" + in.types()
	case resources:
		report.As = "resources" + in.types()
	case recording:
		report.As = Recording
	case manifest:
		report.As = "Kubernetes manifest" + in.kinds(in.objects)
	default:
		report.Why = in.why()
		report.Marked = len(in.problems) == 0 && hasMark(in.text) && !slices.ContainsFunc(in.others, (*object).declined)
	}
	return report
}

// why returns why the file was skipped.
func (in *input) why() string {
	switch {
	case len(in.problems) > 0:
		return in.problems[0].Message
	case len(in.others) == 1:
		return in.others[0].why
	case len(in.others) > 1:
		return "none of its Kubernetes objects holds xDS" + in.kinds(in.others)
	case in.no != "":
		return in.no
	}
	return noXDS
}

// types lists the short names of the resources' types in parentheses, with counts above one.
func (in *input) types() string {
	count := map[string]int{}
	var order []string
	note := func(url string) {
		name := string(decode.TypeName(url).Name())
		if count[name]++; count[name] == 1 {
			order = append(order, name)
		}
	}
	if in.binary != nil {
		for _, p := range in.binary.resources {
			if !p.empty {
				note(p.url)
			}
		}
	}
	for _, doc := range in.docs {
		eachURL(doc, note)
	}
	return counted(order, count)
}

// counted lists words in parentheses, with counts above one.
func counted(words []string, count map[string]int) string {
	if len(words) == 0 {
		return ""
	}
	for i, word := range words {
		if count[word] > 1 {
			words[i] = fmt.Sprintf("%d %s", count[word], word)
		}
	}
	return " (" + strings.Join(words, ", ") + ")"
}

func eachURL(doc *graph.TextNode, f func(string)) {
	list := doc
	if inner := doc.Field("resources"); inner != nil && doc.Kind == tree.Map {
		list = inner
	}
	items := list.Items
	if list.Kind == tree.Map {
		items = []graph.TextNode{*list}
	}
	for i := range items {
		item := &items[i]
		if url := item.Get("@type"); url != nil && decode.TypeName(url.Text) == discoveryPackage+"Resource" {
			if item = item.Field("resource"); item == nil { // a heartbeat
				continue
			}
		}
		if url := item.Get("@type"); url != nil {
			f(url.Text)
		}
	}
}
