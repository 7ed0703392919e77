package boringssl_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
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
		for _, password := range []string{"orchard", "orange", "orchard\n", "", "orchard\x00orange", "\x00orchard"} {
			if strings.HasPrefix(f.Name, "untried-") && !strings.HasPrefix(password, "orchard\x00") && password != "orchard" && password != "" {
				continue // Envoy would try it
			}
			t.Run(fmt.Sprintf("%s/%q", f.Name, password), func(t *testing.T) {
				t.Parallel()
				if !strings.HasSuffix(f.Name, ".p12") {
					_, err := boringssl.PrivateKey(f.Data, []byte(password), true)
					agree(t, envoytest.Newest, either(err), fmt.Sprintf(`{"tls_certificates": [{"certificate_chain": %s, "private_key": %s, "password": %s}]}`,
						source(chain), source(f.Data), source([]byte(password))))
					return
				}
				file := must(base64.StdEncoding.DecodeString(strings.ReplaceAll(string(f.Data), "\n", "")))
				agree(t, envoytest.Newest, either(boringssl.PKCS12(file, []byte(password), true)),
					fmt.Sprintf(`{"tls_certificates": [{"pkcs12": %s, "password": %s}]}`, source(file), source([]byte(password))))
			})
		}
	}
}

// TestHeaders compares what is read of the header of an encrypted key with the real Envoy.
func TestHeaders(t *testing.T) {
	envoytest.Need(t)
	archive := must(txtar.ParseFile("testdata/encrypted.txtar"))
	chain := archive.Files[0].Data
	i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "header-aes256.pem" })
	whole := string(archive.Files[i].Data)
	for name, pair := range map[string][2]string{
		"colon":            {"AES-256-CBC,", "AES-256-CBC:"},
		"no comma":         {"AES-256-CBC,", "AES-256-CBC "},
		"another line":     {"\n\n", "\nFoo: a,b\n\n"},
		"line in between":  {"DEK-Info", "Foo: a,b\nDEK-Info"},
		"no DEK-Info":      {"DEK-Info", "DEK"},
		"unknown cipher":   {"AES-256-CBC", "AES-512-CBC"},
		"lower case":       {"AES-256-CBC", "aes-256-cbc"},
		"not hexadecimal":  {"AES-256-CBC,", "AES-256-CBC,x"},
		"more after it":    {"\n\n", "00\n\n"},
		"long password":    {},
		"not encrypted":    {"4,ENCRYPTED", "4,MIC-ONLY"},
		"header of PKCS 8": {"Proc-Type: 4,ENCRYPTED", "Foo: x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			password := []byte("orchard")
			if name == "long password" {
				password = bytes.Repeat([]byte("x"), 1024)
			}
			key := []byte(strings.Replace(whole, pair[0], pair[1], 1))
			_, err := boringssl.PrivateKey(key, password, true)
			agree(t, envoytest.Newest, either(err), fmt.Sprintf(`{"tls_certificates": [{"certificate_chain": %s, "private_key": %s, "password": %s}]}`,
				source(chain), source(key), source(password)))
		})
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
