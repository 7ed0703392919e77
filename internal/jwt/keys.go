package jwt

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rsa"
	_ "crypto/sha256" // of the algorithms
	_ "crypto/sha512" // the same
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"
)

// Keys verify the signatures of tokens.
type Keys []key

type key struct {
	id, algorithm string
	public        any // []byte of a shared secret, *rsa.PublicKey, *ecdsa.PublicKey or ed25519.PublicKey
}

// ParseKeys follows Jwks::createFromJwksCore: it leaves out keys that it does not know. It returns nil if no key is left.
func ParseKeys(text string) (all Keys) {
	set, ok := object(text)
	if !ok {
		return nil
	}
	held, ok := set.GetFields()["keys"]
	if !ok {
		return certificates(set)
	}
	for _, item := range held.GetListValue().GetValues() {
		if k, ok := parseKey(item.GetStructValue()); ok {
			all = append(all, k)
		}
	}
	return all
}

func parseKey(from *structpb.Struct) (k key, ok bool) {
	get := func(name string) string { return from.GetFields()[name].GetStringValue() }
	k.id, k.algorithm = get("kid"), get("alg")
	family := ""
	switch get("kty") {
	case "oct":
		secret, ok := unescape(get("k"))
		k.public = []byte(secret)
		return k, ok && secret != "" && (k.algorithm == "" || strings.HasPrefix(k.algorithm, "HS") && algorithms[k.algorithm])
	case "RSA":
		if k.public, ok = rsaKey(get("n"), get("e")); strings.HasPrefix(k.algorithm, "PS") {
			family = "PS"
		} else {
			family = "RS"
		}
	case "EC":
		k.public, ok = ecKey(k.algorithm, get("crv"), get("x"), get("y"))
		family = "ES"
	case "OKP":
		x, decoded := unescape(get("x"))
		k.public, ok = ed25519.PublicKey(x), decoded && len(x) == ed25519.PublicKeySize && get("crv") == "Ed25519"
		family = "EdDSA"
	}
	return k, ok && (k.algorithm == "" || strings.HasPrefix(k.algorithm, family))
}

func number(text string) (*big.Int, bool) {
	raw, ok := unescape(text)
	return new(big.Int).SetBytes([]byte(raw)), ok && raw != ""
}

func rsaKey(n, e string) (*rsa.PublicKey, bool) {
	modulus, ok := number(n)
	exponent, fine := number(e)
	if !ok || !fine || !exponent.IsInt64() || exponent.Int64() != 3 && exponent.Int64() != 65537 {
		return nil, false
	}
	return &rsa.PublicKey{N: modulus, E: int(exponent.Int64())}, true
}

var (
	curves      = map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()}
	curvesByUse = map[string]string{"ES256": "P-256", "ES384": "P-384", "ES512": "P-521", "": "P-256"}
)

func ecKey(algorithm, curve, x, y string) (*ecdsa.PublicKey, bool) {
	if curve == "" {
		curve = curvesByUse[algorithm]
	}
	known := curves[curve]
	if known == nil || algorithm != "" && curvesByUse[algorithm] != curve {
		return nil, false
	}
	left, ok := number(x)
	right, fine := number(y)
	size := (known.Params().BitSize + 7) / 8
	if !ok || !fine || left.BitLen() > 8*size || right.BitLen() > 8*size {
		return nil, false
	}
	point := append([]byte{4}, append(left.FillBytes(make([]byte, size)), right.FillBytes(make([]byte, size))...)...)
	public, err := ecdsa.ParseUncompressedPublicKey(known, point)
	return public, err == nil
}

// certificates follows createFromX509: certificates of RSA keys by the names of the keys.
func certificates(set *structpb.Struct) (all Keys) {
	for id, value := range set.GetFields() {
		block, _ := pem.Decode([]byte(value.GetStringValue()))
		if block == nil {
			return nil
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil
		}
		public, ok := c.PublicKey.(*rsa.PublicKey)
		if !ok {
			return nil
		}
		all = append(all, key{id: id, public: public})
	}
	return all
}

// Verify follows verifyJwtWithoutTimeChecking.
func (all Keys) Verify(t *Token) Fault {
	fault := noKeyMatches
	for _, k := range all {
		if t.keyID != "" && k.id != "" && k.id != t.keyID || k.algorithm != "" && k.algorithm != t.algorithm {
			continue
		}
		if _, ok := k.public.(ed25519.PublicKey); ok && len(t.signature) != ed25519.SignatureSize {
			return "Jwt ED25519 signature is wrong length"
		}
		if k.verifies(t) {
			return ""
		}
		fault = NotVerified
	}
	return fault
}

func (k key) verifies(t *Token) bool {
	hash := crypto.SHA256
	switch {
	case strings.HasSuffix(t.algorithm, "384"):
		hash = crypto.SHA384
	case strings.HasSuffix(t.algorithm, "512"):
		hash = crypto.SHA512
	}
	h := hash.New()
	h.Write([]byte(t.signed))
	digest, signature := h.Sum(nil), []byte(t.signature)
	switch public := k.public.(type) {
	case []byte:
		return verifiesSecret(public, hash, t)
	case *rsa.PublicKey:
		switch t.algorithm[:2] {
		case "RS":
			return rsa.VerifyPKCS1v15(public, hash, digest, signature) == nil
		case "PS":
			return rsa.VerifyPSS(public, hash, digest, signature, nil) == nil
		}
	case *ecdsa.PublicKey:
		half := len(signature) / 2
		r, s := new(big.Int).SetBytes(signature[:half]), new(big.Int).SetBytes(signature[half:2*half])
		return ecdsa.Verify(public, digest, r, s)
	case ed25519.PublicKey:
		return ed25519.Verify(public, []byte(t.signed), signature)
	}
	return false
}

// verifiesSecret compares the message authentication code.
func verifiesSecret(secret []byte, hash crypto.Hash, t *Token) bool {
	mac := hmac.New(hash.New, secret)
	mac.Write([]byte(t.signed))
	return hmac.Equal(mac.Sum(nil), []byte(t.signature))
}
