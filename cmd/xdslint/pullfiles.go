package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/pull"
)

// ownFiles are the names of all files that a pull can write.
func ownFiles() []string {
	names := []string{"config_dump.json"}
	for _, kind := range graph.Kinds() {
		names = append(names, pull.FileName(kind))
	}
	return names
}

// checkOut rejects a folder that has files of an earlier pull.
func (f *pullFlags) checkOut() error {
	if f.out == "" {
		return nil
	}
	entries, err := os.ReadDir(f.out)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if own := slices.Contains(ownFiles(), entry.Name()); own && !f.force {
			return fmt.Errorf("--out %s: %s of an earlier pull already exists (--force replaces the files of that pull)", f.out, entry.Name())
		}
	}
	return nil
}

// write writes the files, and removes those of an earlier pull: resources that the server no longer has must not remain.
func (f *pullFlags) write(texts map[string][]byte) error {
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return err
	}
	for _, name := range ownFiles() {
		path := filepath.Join(f.out, name)
		text, ok := texts[path]
		if !ok {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			continue
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// tlsFlags configure the connection to a server.
type tlsFlags struct {
	plaintext             bool
	ca, cert, key, server string
}

// add adds the flags about the connection to the server that another flag names.
func (f *tlsFlags) add(flags *pflag.FlagSet, server string) {
	flags.BoolVar(&f.plaintext, "plaintext", false, "connect to "+server+" without TLS")
	flags.StringVar(&f.ca, "tls-ca", "", "certificate authorities of the server, as `FILE` (default: the system's)")
	flags.StringVar(&f.cert, "tls-cert", "", "the client's certificate, as `FILE`")
	flags.StringVar(&f.key, "tls-key", "", "the client's private key, as `FILE`")
	flags.StringVar(&f.server, "tls-server-name", "", "`NAME` in the server's certificate, if it is not the host")
}

// config returns the TLS configuration of the connection; nil: no TLS.
func (f *tlsFlags) config() (*tls.Config, error) {
	if f.plaintext {
		if f.ca+f.cert+f.key+f.server != "" {
			return nil, errors.New("--plaintext and the --tls-… flags cannot be used together")
		}
		return nil, nil
	}
	c := &tls.Config{ServerName: f.server, MinVersion: tls.VersionTLS12}
	var err error
	if c.RootCAs, err = authorities("tls-ca", f.ca); err != nil {
		return nil, err
	}
	c.Certificates, err = certificates("tls", f.cert, f.key)
	return c, err
}

// authorities reads the file of a flag; without one, it returns nil.
func authorities(flag, path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("--%s %s: no PEM certificate found", flag, path)
	}
	return pool, nil
}

// certificates reads the files of the flags --PREFIX-cert and --PREFIX-key; without them, it returns nil.
func certificates(prefix, cert, key string) ([]tls.Certificate, error) {
	if (cert == "") != (key == "") {
		return nil, fmt.Errorf("--%s-cert and --%[1]s-key must be used together", prefix)
	}
	if cert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("--%s-cert, --%[1]s-key: %w", prefix, err)
	}
	return []tls.Certificate{pair}, nil
}
