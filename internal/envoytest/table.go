package envoytest

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/xdslint/xdslint/internal/decode/types"
)

// Table is the file of dataplane/builds for this version of Envoy: the node of the build's first ADS request, and how
// the descriptors in its binary differ from those that xdslint decodes with. Lines are sorted:
//
//	extension CATEGORY NAME TYPE_URL…   it has the extension
//	adds MESSAGE                        it has a message that was removed since
//	lacks NAME                          it does not have the package, message, field or enum value (ENUM.VALUE)
//	options FIELD BASE64                it has other FieldOptions there: other constraints, or it is not deprecated yet
func (v Version) Table(ctx context.Context) (string, error) {
	ads, err := v.start(ctx)
	if err != nil {
		return "", err
	}
	defer ads.Close()
	node := ads.Node()
	var lines []string
	for _, x := range node.GetExtensions() {
		urls := slices.Sorted(slices.Values(x.GetTypeUrls()))
		lines = append(lines, strings.Join(append([]string{"extension", x.GetCategory(), x.GetName()}, urls...), " "))
	}
	files, err := v.Descriptors()
	if err != nil {
		return "", err
	}
	lines = append(lines, differences(files)...)
	slices.Sort(lines)
	build := node.GetUserAgentBuildVersion().GetVersion()
	head := fmt.Sprintf("# What the official Envoy %d.%d.%d has. Made by `make update`; the lines are explained in build.go.\n",
		build.GetMajorNumber(), build.GetMinorNumber(), build.GetPatch())
	return head + strings.Join(slices.Compact(lines), "\n") + "\n", nil
}

// api are the declarations of a build, by full name.
type api struct {
	packages map[string]bool
	messages map[string]bool
	fields   map[string]*descriptorpb.FieldDescriptorProto
	enums    map[string]bool
	values   map[string]bool
}

// differences compares the API that xdslint knows with that of a build.
func differences(files []*descriptorpb.FileDescriptorProto) (lines []string) {
	a := api{map[string]bool{}, map[string]bool{}, map[string]*descriptorpb.FieldDescriptorProto{}, map[string]bool{}, map[string]bool{}}
	for _, f := range files {
		a.packages[f.GetPackage()] = true
		a.enter(f.GetPackage(), f.GetMessageType(), f.GetEnumType())
	}
	types.Each(func(name, _ protoreflect.FullName) {
		mt, err := types.Envoy.FindMessageByName(name)
		if err != nil {
			return
		}
		if path := mt.Descriptor().ParentFile().Path(); !strings.HasPrefix(path, "envoy/") && !strings.HasPrefix(path, "contrib/") {
			return
		}
		lines = append(lines, a.compare(mt.Descriptor())...)
	})
	for name := range a.messages {
		if _, err := types.Envoy.FindMessageByName(protoreflect.FullName(name)); err != nil && strings.HasPrefix(name, "envoy.") && !strings.HasPrefix(name, "envoy.service.") {
			lines = append(lines, "adds "+name)
		}
	}
	return lines
}

func (a *api) enter(scope string, messages []*descriptorpb.DescriptorProto, enums []*descriptorpb.EnumDescriptorProto) {
	for _, m := range messages {
		if m.GetOptions().GetMapEntry() {
			continue
		}
		name := scope + "." + m.GetName()
		a.messages[name] = true
		for _, f := range m.GetField() {
			a.fields[name+"."+f.GetName()] = f
		}
		a.enter(name, m.GetNestedType(), m.GetEnumType())
	}
	for _, e := range enums {
		a.enums[scope+"."+e.GetName()] = true
		for _, v := range e.GetValue() {
			a.values[scope+"."+e.GetName()+"."+v.GetName()] = true
		}
	}
}

// compare returns the lines about a message and the declarations in it.
func (a *api) compare(md protoreflect.MessageDescriptor) (lines []string) {
	pkg := string(md.ParentFile().Package())
	if !a.packages[pkg] {
		return []string{"lacks " + pkg}
	}
	if !a.messages[string(md.FullName())] {
		return []string{"lacks " + string(md.FullName())}
	}
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		old := a.fields[string(fd.FullName())]
		if old == nil {
			lines = append(lines, "lacks "+string(fd.FullName()))
			continue
		}
		if now, then := relevant(fd.Options()), relevant(old.GetOptions()); !bytes.Equal(now, then) {
			lines = append(lines, fmt.Sprintf("options %s %s", fd.FullName(), base64.StdEncoding.EncodeToString(then)))
		}
		if ed := fd.Enum(); ed != nil && a.enums[string(ed.FullName())] {
			lines = append(lines, a.compareEnum(ed)...)
		}
	}
	return lines
}

func (a *api) compareEnum(ed protoreflect.EnumDescriptor) (lines []string) {
	for i := range ed.Values().Len() {
		name := string(ed.FullName()) + "." + string(ed.Values().Get(i).Name())
		if !a.values[name] {
			lines = append(lines, "lacks "+name)
		}
	}
	return lines
}

// relevant returns the options of a field that findings depend on: its constraints, and whether it is deprecated.
func relevant(options proto.Message) []byte {
	raw, _ := proto.MarshalOptions{Deterministic: true}.Marshal(options) // of a descriptor that was parsed
	var all, kept descriptorpb.FieldOptions
	if proto.Unmarshal(raw, &all) != nil {
		return nil
	}
	kept.Deprecated = all.Deprecated
	all.ProtoReflect().Range(func(fd protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if fd.FullName() == "validate.rules" {
			kept.ProtoReflect().Set(fd, value)
		}
		return true
	})
	out, _ := proto.MarshalOptions{Deterministic: true}.Marshal(&kept)
	return out
}
