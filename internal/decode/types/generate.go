//go:build ignore

// Writes envoy.binpb, the descriptors of Envoy's v3 API, files.txt, which says
// where in it each file is, and names.txt, which says in which file each message and enum is.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"sort"
	"strings"

	"github.com/cncf/xds/go/udpa/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/service/runtime/v3"

	_ "github.com/xdslint/xdslint/internal/decode/linked"
)

func main() {
	var files []protoreflect.FileDescriptor
	protoregistry.GlobalFiles.RangeFiles(func(fd protoreflect.FileDescriptor) bool {
		if !strings.HasPrefix(fd.Path(), "google/protobuf/") {
			files = append(files, fd)
		}
		return true
	})
	sort.Slice(files, func(i, j int) bool { return files[i].Path() < files[j].Path() })
	var raw bytes.Buffer
	var paths, names []string
	for _, fd := range files {
		file := protodesc.ToFileDescriptorProto(fd)
		file.Service = nil // only messages are ever looked up
		one, err := proto.MarshalOptions{Deterministic: true}.Marshal(file)
		if err != nil {
			log.Fatal(err)
		}
		paths = append(paths, fmt.Sprintf("%s\t%d\t%d\n", fd.Path(), raw.Len(), len(one)))
		raw.Write(one)
		names = append(append(names, enums(fd.Enums(), fd.Path())...), messages(fd.Messages(), fd.Path())...)
	}
	for name, lines := range map[string][]string{"files.txt": paths, "names.txt": names} {
		sort.Strings(lines) // as types.line expects
		write(name, []byte(strings.Join(lines, "")))
	}
	write("envoy.binpb", raw.Bytes())
}

func write(name string, content []byte) {
	if err := os.WriteFile(name, content, 0o644); err != nil {
		log.Fatal(err)
	}
}

// messages writes a line for each message and enum: its name, its file, and its name in the v2 API.
func messages(all protoreflect.MessageDescriptors, file string) (lines []string) {
	for i := range all.Len() {
		md := all.Get(i)
		if md.IsMapEntry() {
			continue
		}
		versioning, _ := proto.GetExtension(md.Options(), annotations.E_Versioning).(*annotations.VersioningAnnotation)
		lines = append(lines, fmt.Sprintf("%s\t%s\tmessage\t%s\n", md.FullName(), file, versioning.GetPreviousMessageType()))
		lines = append(append(lines, enums(md.Enums(), file)...), messages(md.Messages(), file)...)
	}
	return lines
}

func enums(all protoreflect.EnumDescriptors, file string) (lines []string) {
	for i := range all.Len() {
		lines = append(lines, fmt.Sprintf("%s\t%s\tenum\t\n", all.Get(i).FullName(), file))
	}
	return lines
}
