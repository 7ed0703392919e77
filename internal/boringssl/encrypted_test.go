package boringssl_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/xdslint/xdslint/internal/boringssl"
	"github.com/xdslint/xdslint/internal/envoytest"
)

// TestEncrypted compares keys and PKCS #12 files that have a password with the real Envoy.
func TestEncrypted(t *testing.T) {
	envoytest.Need(t)
	archive := must(txtar.ParseFile("testdata/encrypted.txtar"))
	chain, locked := archive.Files[0].Data, archive.Files[1:]
	for _, f := range locked {
		for _, password := range []string{"orchard", "orange", "orchard\n", ""} {
			if strings.HasPrefix(f.Name, "untried-") && !strings.HasSuffix(password, "rchard") && password != "" {
				continue // Envoy would try it
			}
			t.Run(fmt.Sprintf("%s/%q", f.Name, password), func(t *testing.T) {
				t.Parallel()
				if !strings.HasSuffix(f.Name, ".p12") {
					_, err := boringssl.PrivateKey(f.Data, []byte(password), true)
					agree(t, envoytest.Newest, either(err), fmt.Sprintf(`{"tls_certificates": [{"certificate_chain": %s, "private_key": %s, "password": {"inline_string": %q}}]}`,
						source(chain), source(f.Data), password))
					return
				}
				file := must(base64.StdEncoding.DecodeString(strings.ReplaceAll(string(f.Data), "\n", "")))
				agree(t, envoytest.Newest, either(boringssl.PKCS12(file, []byte(password), true)),
					fmt.Sprintf(`{"tls_certificates": [{"pkcs12": %s, "password": {"inline_string": %q}}]}`, source(file), password))
			})
		}
	}
}

// TestPasswords checks the reasons that are given, and that nothing is said of a password that is not known.
func TestPasswords(t *testing.T) {
	archive := must(txtar.ParseFile("testdata/encrypted.txtar"))
	for _, f := range archive.Files[1:] {
		read := func(password string, known bool) string {
			if !strings.HasSuffix(f.Name, ".p12") {
				_, err := boringssl.PrivateKey(f.Data, []byte(password), known)
				return either(err)
			}
			file := must(base64.StdEncoding.DecodeString(strings.ReplaceAll(string(f.Data), "\n", "")))
			return either(boringssl.PKCS12(file, []byte(password), known))
		}
		switch f.Name {
		case "sha512.pem", "scrypt.pem", "camellia.pem", "md5-des.pem", "header-camellia128.pem", "without-mac.p12":
			if read("orchard", true) == "" || read("", false) == "" {
				t.Errorf("%s: Envoy cannot read it with any password", f.Name)
			}
			continue
		case "without-password.p12":
			continue
		}
		if got := read("orchard", true) + read("", false); got != "" {
			t.Errorf("%s: %s", f.Name, got)
		}
		if got := read("", true); got != "it is encrypted, and there is no password" {
			t.Errorf("%s: %s", f.Name, got)
		}
		if strings.HasPrefix(f.Name, "untried-") {
			continue
		}
		if got := read("orange", true); got != "the password is wrong" {
			t.Errorf("%s: %s", f.Name, got)
		}
		if got := read("orchard\n", true); got != "the password is wrong: it ends with a line break, and is right without it" {
			t.Errorf("%s: %s", f.Name, got)
		}
	}
}
