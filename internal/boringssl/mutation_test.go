package boringssl_test

import (
	"bytes"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/xdslint/xdslint/internal/envoytest"
)

// TestMutations changes certificates and keys at random, and fails if this package rejects one that Envoy accepts.
func TestMutations(t *testing.T) {
	envoytest.Need(t)
	if !envoytest.Thorough() {
		t.Skip("asks Envoy a hundred times")
	}
	random := rand.New(rand.NewPCG(1, 0))
	archive := must(txtar.ParseFile("../../testdata/rules/tls/bad-private-key.txtar"))
	der := func(name string) []byte {
		i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == name })
		b, _ := pem.Decode(archive.Files[i].Data)
		return b.Bytes
	}
	chain, key := der("good/shop.crt"), der("good/shop.key")
	for i := range 100 {
		text, private := block("CERTIFICATE", chain), block("PRIVATE KEY", key)
		switch i % 4 {
		case 0:
			text = block("CERTIFICATE", mutated(random, chain))
		case 1:
			private = block("PRIVATE KEY", mutated(random, key))
		case 2:
			text = mutated(random, text)
		case 3:
			private = mutated(random, private)
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			why := fault(text, private)
			if why == "" {
				return
			}
			agree(t, envoytest.Newest, why, fmt.Sprintf(`{"tls_certificates": [{"certificate_chain": %s, "private_key": %s}]}`, source(text), source(private)))
			if t.Failed() {
				t.Logf("chain %s\nkey %s", base64.StdEncoding.EncodeToString(text), base64.StdEncoding.EncodeToString(private))
			}
		})
	}
}

// mutated changes, removes or repeats a few bytes.
func mutated(random *rand.Rand, text []byte) []byte {
	out := bytes.Clone(text)
	for range 1 + random.IntN(2) {
		at := random.IntN(len(out))
		switch random.IntN(3) {
		case 0:
			out[at] = byte(random.IntN(256))
		case 1:
			out = append(out[:at:at], out[min(len(out), at+1+random.IntN(3)):]...)
		case 2:
			out = append(out[:at:at], append([]byte{out[at]}, out[at:]...)...)
		}
	}
	return out
}
