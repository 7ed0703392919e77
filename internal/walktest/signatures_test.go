package walktest

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"math/big"
	"testing"
	"time"

	"github.com/xdslint/xdslint/internal/envoytest"
)

func encoded64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// signer makes tokens of one algorithm, and has the key that verifies them.
type signer struct {
	algorithm string
	key       obj
	sign      func(text []byte) []byte
}

func digest(h crypto.Hash, text []byte) []byte {
	made := h.New()
	made.Write(text)
	return made.Sum(nil)
}

func signers(t *testing.T) (all []signer) {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public := obj{"kty": "RSA", "n": encoded64(private.N.Bytes()), "e": encoded64(big.NewInt(int64(private.E)).Bytes())}
	for name, h := range map[string]crypto.Hash{"RS256": crypto.SHA256, "RS512": crypto.SHA512} {
		all = append(all, signer{name, public, func(text []byte) []byte {
			made, _ := rsa.SignPKCS1v15(rand.Reader, private, h, digest(h, text))
			return made
		}})
	}
	all = append(all, signer{"PS256", public, func(text []byte) []byte {
		made, _ := rsa.SignPSS(rand.Reader, private, crypto.SHA256, digest(crypto.SHA256, text), &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash})
		return made
	}})
	for name, c := range map[string]elliptic.Curve{"ES256": elliptic.P256(), "ES384": elliptic.P384()} {
		private, err := ecdsa.GenerateKey(c, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		size, h := (c.Params().BitSize+7)/8, map[string]crypto.Hash{"ES256": crypto.SHA256, "ES384": crypto.SHA384}[name]
		point, err := private.PublicKey.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		key := obj{"kty": "EC", "crv": c.Params().Name, "x": encoded64(point[1 : 1+size]), "y": encoded64(point[1+size:])}
		all = append(all, signer{name, key, func(text []byte) []byte {
			r, s, _ := ecdsa.Sign(rand.Reader, private, digest(h, text))
			return append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...)
		}})
	}
	verifies, signs, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return append(all, signer{"EdDSA", obj{"kty": "OKP", "crv": "Ed25519", "x": encoded64(verifies)}, func(text []byte) []byte { return ed25519.Sign(signs, text) }})
}

// TestSignatures: the walk accepts the tokens that Envoy accepts, of all kinds of keys.
func TestSignatures(t *testing.T) {
	envoytest.Need(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var keys, requests list
	for _, s := range signers(t) {
		keys = append(keys, s.key)
		text := encoded64([]byte(`{"alg":"`+s.algorithm+`"}`)) + "." + encoded64([]byte(`{"iss":"walk"}`))
		signature := s.sign([]byte(text))
		spoiled := append([]byte(nil), signature...)
		spoiled[len(spoiled)/3] ^= 1
		for _, end := range [][]byte{signature, spoiled, signature[:len(signature)-1]} {
			requests = append(requests, obj{"method": "GET", "authority": "shop.test", "path": "/", "headers": list{list{"authorization", "Bearer " + text + "." + encoded64(end)}}})
		}
	}
	s := &setting{Manager: obj{
		"http_filters": list{
			obj{"name": "jwt", "typed_config": typed("jwt_authn.v3.JwtAuthentication", obj{
				"providers": obj{"p": obj{"issuer": "walk", "local_jwks": obj{"inline_string": jsonOf(obj{"keys": keys})}}},
				"rules":     list{obj{"match": obj{"prefix": "/"}, "requires": obj{"provider_name": "p"}}},
			})},
			obj{"name": "router", "typed_config": typed("router.v3.Router", obj{})},
		},
		"route_config": obj{"virtual_hosts": list{obj{"name": "all", "domains": list{"*"}, "routes": list{
			obj{"name": "all", "match": obj{"prefix": "/"}, "route": obj{"cluster": "shop"}},
		}}}},
	}}
	for _, r := range requests {
		s.Requests = append(s.Requests, r.(obj))
	}
	compareSettings(ctx, t, map[string]*setting{"signatures": s})
}
