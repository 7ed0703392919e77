package decode_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
)

func TestTooDeepForEnvoy(t *testing.T) {
	for depth, want := range map[int]int{100: 0, 101: 1} {
		docs, err := syntax.ParseJSON(&source.File{Text: []byte(strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth))})
		if err != nil {
			t.Fatal(err)
		}
		d := decode.NewDecoder(nil)
		d.Decode(docs[0], &structpb.Struct{})
		if len(d.Problems) != want {
			t.Errorf("%d deep: %d problems", depth, len(d.Problems))
		}
	}
}
