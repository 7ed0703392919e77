package load

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"

	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
	"github.com/xdslint/xdslint/internal/tree"
)

// Protobuf's own reader makes the message of a proto text, which is then treated as one from a binary file. An outline
// of the text shows what it is, and where its resources and their fields are.

var textContents = map[content]struct {
	name protoreflect.FullName
	read func([]byte) *binary
}{
	bootstrap:     {bootstrapName, nil},
	response:      {discoveryPackage + "DiscoveryResponse", readResponse},
	deltaResponse: {discoveryPackage + "DeltaDiscoveryResponse", readDelta},
	configDump:    {adminPackage + "ConfigDump", readDump},
	resources:     {"google.protobuf.Any", readAny},
}

// protoText reads the message of an outline.
func (l *loader) protoText(in *input, outline *tree.Node) {
	as, untyped := recognise(outline), false
	switch {
	case as != nothing || !in.named:
	case l.opts.Untyped != "":
		as, untyped, outline = resources, true, typed(outline, l.opts.Untyped)
	default:
		as = bootstrap // Envoy would read it as one
	}
	mt, err := l.types.FindMessageByName(textContents[as].name)
	if err != nil {
		return
	}
	m := mt.New().Interface()
	if untyped {
		m, err = l.packedText(in.text, l.opts.Untyped)
	} else {
		err = l.unmarshalText(in.text, m)
	}
	if err != nil {
		in.syntax(textFault(in.file, err))
	} else if b, ok := m.(*bootstrapv3.Bootstrap); ok {
		in.binary, in.outline = &binary{as: bootstrap, bootstrap: b}, outline
	} else if raw, err := proto.Marshal(m); err == nil {
		if in.binary = textContents[as].read(raw); in.binary == nil || as == configDump {
			return
		}
		d := decode.NewDecoder(l.types)
		rest := in.binary.outlined(outline)
		d.CheckNames(&rest, mt.Descriptor())
		in.problems = d.Problems
	}
}

// packedText reads a message of a type, and puts it into an Any.
func (l *loader) packedText(text []byte, name protoreflect.FullName) (proto.Message, error) {
	mt, err := l.types.FindMessageByName(name)
	if err != nil {
		return nil, err
	}
	m := mt.New().Interface()
	if err := l.unmarshalText(text, m); err != nil {
		return nil, err
	}
	return anypb.New(m)
}

// unmarshalText leaves out unknown fields, and the content of Anys whose types are not known. Both are reported with their paths.
func (l *loader) unmarshalText(text []byte, m proto.Message) error {
	return prototext.UnmarshalOptions{AllowPartial: true, DiscardUnknown: true, Resolver: textTypes{types: l.types}}.Unmarshal(text, m)
}

// textTypes finds the types of Anys. One that is not known is an empty message.
type textTypes struct {
	types                decode.Types
	*protoregistry.Types // nil, which knows no extensions
}

func (t textTypes) FindMessageByURL(url string) (protoreflect.MessageType, error) {
	if mt, err := t.types.FindMessageByName(decode.TypeName(url)); err == nil {
		return mt, nil
	}
	return (*emptypb.Empty)(nil).ProtoReflect().Type(), nil
}

var textError = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\(line (\d+):(\d+)\): (.*)`) })

// textFault returns the error of the proto text reader without the value that it quotes, which can be a secret.
func textFault(file *source.File, err error) error {
	found := textError().FindStringSubmatch(err.Error())
	if found == nil {
		return &syntax.Error{Message: "this is not proto text", Span: source.Span{Start: len(file.Text), End: len(file.Text)}}
	}
	line, _ := strconv.Atoi(found[1])
	column, _ := strconv.Atoi(found[2])
	at := file.Offset(line, column)
	message, _, _ := strings.Cut(found[3], ": ")
	return &syntax.Error{Message: message, Span: source.Span{Start: at, End: min(at+1, len(file.Text))}}
}

// outlined finds the resources in a proto text, and returns the outline without them.
func (b *binary) outlined(outline *tree.Node) (rest tree.Node) {
	if b.as == resources {
		b.resources[0].text = outline
		return tree.Node{}
	}
	list := tree.Node{Kind: tree.List}
	for i := range b.resources {
		n := outline.Locate((*tree.Path)(nil).Item("resources", i)).Node
		if url := n.Get("@type"); url == nil || decode.TypeName(url.Text) == discoveryPackage+"Resource" {
			list.Items = append(list.Items, n.With("resource", tree.Node{}))
			n = n.Field("resource")
		}
		b.resources[i].text = n
	}
	return outline.With("resources", list)
}
