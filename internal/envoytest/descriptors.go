package envoytest

import (
	"bytes"
	"fmt"
	"os"
	"regexp"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// fileName matches the beginning of the descriptor of a proto file: its name (field 1), then its package (field 2).
var fileName = regexp.MustCompile(`\n[\x08-\x7f]((?:envoy|contrib|xds|udpa)/[a-z0-9_/.-]+\.proto)\x12`)

// lastField is the last field of a descriptor: the syntax, which every proto3 file states.
const lastField = 12

// Descriptors returns the proto files of the API that this Envoy has: protobuf's C++ code keeps them in the binary,
// unchanged.
func (v Version) Descriptors() ([]*descriptorpb.FileDescriptorProto, error) {
	path, err := v.Binary()
	if err != nil {
		return nil, err
	}
	binary, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var files []*descriptorpb.FileDescriptorProto
	for _, at := range fileName.FindAllSubmatchIndex(binary, -1) {
		name := string(binary[at[2]:at[3]])
		size := descriptorSize(binary[at[0]:])
		if int(binary[at[0]+1]) != len(name) || size == 0 || seen[name] {
			continue
		}
		file := new(descriptorpb.FileDescriptorProto)
		// The bytes are copied, so that the binary can go.
		if err := proto.Unmarshal(bytes.Clone(binary[at[0]:at[0]+size]), file); err != nil {
			return nil, fmt.Errorf("%s in %s: %w", name, path, err)
		}
		seen[name] = true
		files = append(files, file)
	}
	if len(files) < 100 {
		return nil, fmt.Errorf("%s holds only %d descriptors of Envoy's API", path, len(files))
	}
	return files, nil
}

// descriptorSize returns the length of the descriptor at the beginning of b, or 0 if there is none.
func descriptorSize(b []byte) int {
	size := 0
	for size < len(b) {
		number, kind, n := protowire.ConsumeTag(b[size:])
		if n < 0 || number > lastField || kind != protowire.BytesType && kind != protowire.VarintType {
			return 0
		}
		value := protowire.ConsumeFieldValue(number, kind, b[size+n:])
		if value < 0 {
			return 0
		}
		size += n + value
		if number == lastField {
			return size
		}
	}
	return 0
}
