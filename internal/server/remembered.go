package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"maps"
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// remembered are the latest answers about texts. Hooks and controllers send the same texts again and again.
type remembered struct {
	answers *lru.Cache[digest, known]
}

type digest [sha256.Size]byte

// known is an answer that was sent.
type known struct {
	text     []byte
	findings int
	at       time.Time
}

// Together, the answers take 16 MB at most. They are forgotten after a while, since a rule of the user may look at the clock.
const (
	maxRemembered   = 1000
	maxRememberedOf = 16 << 10
	rememberedFor   = time.Minute
)

func newRemembered() *remembered {
	answers, _ := lru.New[digest, known](maxRemembered) // the only error is a size below 1
	return &remembered{answers}
}

// find returns what was answered to a question a short while ago.
func (m *remembered) find(d digest) (known, bool) {
	answer, ok := m.answers.Get(d)
	return answer, ok && time.Since(answer.at) < rememberedFor
}

// digestOf identifies a question: the texts by name, and the format of the answer.
func digestOf(texts map[string][]byte, format string) (d digest) {
	sum := sha256.New()
	write := func(part []byte) {
		_ = binary.Write(sum, binary.BigEndian, int64(len(part))) // a hash takes everything
		_, _ = sum.Write(part)
	}
	write([]byte(format))
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		write([]byte(name))
		write(texts[name])
	}
	sum.Sum(d[:0])
	return d
}

// recorder keeps a copy of a short answer while it is written.
type recorder struct {
	io.Writer
	text bytes.Buffer
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.text.Len() <= maxRememberedOf {
		r.text.Write(p[:min(len(p), maxRememberedOf+1)])
	}
	return r.Writer.Write(p)
}

// keep remembers a whole answer, if it is short.
func (m *remembered) keep(d digest, r *recorder, findings int) {
	if r.text.Len() <= maxRememberedOf {
		m.answers.Add(d, known{bytes.Clone(r.text.Bytes()), findings, time.Now()})
	}
}
