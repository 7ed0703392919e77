package boringssl

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
)

// errEnd: there are no more blocks.
var errEnd = errors.New("no more blocks")

// block is a part of a PEM text.
type block struct {
	name   string
	header string // before an empty line
	data   []byte
}

// encrypted reports whether the block has the header of an encrypted one.
func (b *block) encrypted() bool { return strings.HasPrefix(b.header, "Proc-Type: 4,ENCRYPTED") }

// lineSize is how much BIO_gets returns at once.
const lineSize = 253

// pem reads blocks from the front of a text.
type pem []byte

// line takes a line without the space at its end. Longer lines are several.
func (p *pem) line() (line string, ok bool) {
	text := *p
	if len(text) == 0 {
		return "", false
	}
	end := min(len(text), lineSize)
	if i := bytes.IndexByte(text[:end], '\n'); i >= 0 {
		end = i + 1
	}
	*p = text[end:]
	for end > 0 && int8(text[end-1]) <= ' ' { // a char is signed, so this is also true above 127
		end--
	}
	return string(text[:end]), true
}

var withoutBlanks = strings.NewReplacer(" ", "", "\t", "")

// next takes the next block. It follows PEM_read_bio (crypto/pem/pem_lib.cc).
func (p *pem) next() (*block, error) {
	b := &block{}
	for b.name == "" {
		line, ok := p.line()
		if !ok {
			return nil, errEnd
		}
		name, begins := strings.CutPrefix(line, "-----BEGIN ")
		if name, ends := strings.CutSuffix(name, "-----"); begins && ends {
			b.name = name
		}
	}
	var lines []string
	for inHeader := true; ; {
		line, ok := p.line()
		if !ok {
			return nil, errors.New("its last block has no END line")
		}
		if name, ends := strings.CutPrefix(line, "-----END "); ends {
			if name != b.name+"-----" {
				return nil, errors.New("the BEGIN and the END line of a block differ")
			}
			break
		}
		if line == "" && inHeader {
			b.header, lines, inHeader = strings.Join(lines, "\n"), nil, false
			continue
		}
		lines = append(lines, line)
	}
	var err error
	text := withoutBlanks.Replace(strings.Join(lines, ""))
	if b.data, err = base64.StdEncoding.DecodeString(text); err != nil {
		return nil, errors.New("a block is not valid base64")
	}
	if len(b.data) == 0 {
		return nil, errors.New("a block is empty")
	}
	return b, nil
}

// of takes the next block with one of the names.
func (p *pem) of(names ...string) (*block, error) {
	for {
		b, err := p.next()
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if b.name == name {
				return b, nil
			}
		}
	}
}
