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

// TestEnded: a decoder whose work is of no use any more stops within a list of messages.
func TestEnded(t *testing.T) {
	docs, err := syntax.ParseJSON(&source.File{Text: []byte(`{"values": [` + strings.Repeat("1,", 999) + `1]}`)})
	if err != nil {
		t.Fatal(err)
	}
	d, asked := decode.NewDecoder(nil), 0
	d.Ended = func() bool { asked++; return asked > 10 }
	list := &structpb.ListValue{}
	d.Reset()
	d.Decode(docs[0].Get("values"), list)
	decoded := 0
	for _, v := range list.GetValues() {
		if v.GetKind() != nil {
			decoded++
		}
	}
	if decoded > 10 {
		t.Errorf("%d of 1000 values are decoded", decoded)
	}
}
