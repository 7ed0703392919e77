package xdslint_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/xdslint/xdslint"
)

func BenchmarkTmp(b *testing.B) {
	text, err := os.ReadFile(os.Getenv("TMPFILE"))
	if err != nil {
		b.Fatal(err)
	}
	l, _ := xdslint.New(xdslint.Options{})
	at := bytes.Index(text, []byte("connect_timeout: 1s"))
	if m := bytes.Index(text[len(text)/2:], []byte("connect_timeout: 1s")); m > 0 {
		at = len(text)/2 + m
	}
	version := func(i int) xdslint.Input {
		t := bytes.Clone(text)
		copy(t[at:], fmt.Sprintf("connect_timeout: %ds", 1+i%9))
		if i%2 == 0 {
			t = bytes.Replace(t, []byte("connect_timeout"), []byte("# a comment\n          connect_timeout"), 1)
		}
		return xdslint.Texts(map[string][]byte{"envoy.yaml": t})
	}
	b.Run("fresh", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			b.StopTimer()
			in := version(i)
			b.StartTimer()
			if _, err := l.Lint(b.Context(), in); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("session", func(b *testing.B) {
		s := &xdslint.Session{}
		s.Lint(b.Context(), l, version(100))
		for i := 0; b.Loop(); i++ {
			b.StopTimer()
			in := version(i)
			b.StartTimer()
			if _, err := s.Lint(b.Context(), l, in); err != nil {
				b.Fatal(err)
			}
		}
	})
}
