package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/spf13/cobra"
)

type certificateFlags struct {
	out   string
	hosts []string
	days  int
}

func newCertificate() *cobra.Command {
	f := &certificateFlags{}
	cmd := &cobra.Command{
		Use: "certificate", Short: "Create a certificate and its authority for xdslint serve", Args: noArgs,
		DisableFlagsInUseLine: true,
		Long: `Write tls.crt and tls.key for xdslint serve, and ca.crt for its clients: the caBundle of a Kubernetes webhook. The
private key of the authority is not stored, so no other certificate can be signed with it. Existing files are not
overwritten: to renew the certificate, remove them first. A running xdslint serve loads the new one.`,
		Example: `  xdslint certificate --out deploy/self-signed
  xdslint certificate --out tls --host lint.example.com --host 10.0.0.5`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.out, "out", ".", "`DIR` to write to")
	flags.StringSliceVar(&f.hosts, "host", []string{"xdslint.xdslint-system.svc"}, "DNS `NAME` or IP address of the server; can be repeated")
	flags.IntVar(&f.days, "days", 365, "validity in days, as `N`")
	return cmd
}

const maxDays = 36500 // a date must have a year of four digits

var dnsName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\*\.)?[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9])?$`) })

func (f *certificateFlags) run(cmd *cobra.Command) error {
	if f.days < 1 || f.days > maxDays {
		return fmt.Errorf("--days %d: must be from 1 to %d", f.days, maxDays)
	}
	if len(f.hosts) == 0 {
		return errors.New("--host: a certificate needs at least one name")
	}
	for _, host := range f.hosts {
		if net.ParseIP(host) == nil && !dnsName().MatchString(host) {
			return fmt.Errorf("--host %q is not a DNS name or IP address", host)
		}
	}
	made, err := newCertificateFiles(f.hosts, time.Now(), f.days)
	if err != nil {
		return failed(err)
	}
	for _, one := range made {
		path := filepath.Join(f.out, one.name)
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s already exists: remove it to create a new certificate", path)
		}
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return failed(err)
	}
	for _, one := range made {
		path := filepath.Join(f.out, one.name)
		if err := writeNew(path, one.text, one.mode); err != nil {
			return failed(err)
		}
		fmt.Fprintln(cmd.OutOrStdout(), path)
	}
	return nil
}

func writeNew(path string, text []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// certificateFile is a file that xdslint certificate writes.
type certificateFile struct {
	name string
	text []byte
	mode fs.FileMode
}

// newCertificateFiles creates a certificate for the hosts, its key, and the certificate of the authority that signed it.
func newCertificateFiles(hosts []string, now time.Time, days int) ([]certificateFile, error) {
	authority := &x509.Certificate{
		Subject: pkix.Name{CommonName: "xdslint CA"}, NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(0, 0, days),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
	}
	server := &x509.Certificate{
		Subject: pkix.Name{CommonName: "xdslint"}, NotBefore: authority.NotBefore, NotAfter: authority.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			server.IPAddresses = append(server.IPAddresses, ip)
		} else {
			server.DNSNames = append(server.DNSNames, host)
		}
	}
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	ca, err := x509.CreateCertificate(rand.Reader, authority, authority, &authorityKey.PublicKey, authorityKey)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.CreateCertificate(rand.Reader, server, authority, &key.PublicKey, authorityKey)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return []certificateFile{
		{"ca.crt", asPEM("CERTIFICATE", ca), 0o644},
		{"tls.crt", asPEM("CERTIFICATE", certificate), 0o644},
		{"tls.key", asPEM("PRIVATE KEY", private), 0o600},
	}, nil
}

func asPEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
