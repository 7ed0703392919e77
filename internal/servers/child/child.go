// Package child is a process that package servers starts and fills, by the lines that are described there.
package child

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// Target is what a server serves, as reference.Target.
type Target interface {
	Set(name string, m proto.Message)
	Delete(typeURL, name string)
	Publish()
}

// Run prints the address of a server, and passes on the words of each line of the standard input, until it ends.
func Run(l net.Listener, take func(words []string) error) error {
	fmt.Println(l.Addr())
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		if err := take(strings.Fields(in.Text())); err != nil {
			return err
		}
		fmt.Println("ok")
	}
	return in.Err()
}

// Fill changes a target as lines say.
func Fill(t Target) func(words []string) error {
	return func(words []string) error {
		switch words[0] {
		case "set":
			m, err := message(words[2])
			if err != nil {
				return err
			}
			t.Set(words[1], m)
		case "delete":
			t.Delete(words[1], words[2])
		case "publish":
			t.Publish()
		default:
			return fmt.Errorf("a line begins with %q", words[0])
		}
		return nil
	}
}

// message reads an Any in Base64.
func message(text string) (proto.Message, error) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	var packed anypb.Any
	if err := proto.Unmarshal(raw, &packed); err != nil {
		return nil, err
	}
	return packed.UnmarshalNew()
}
