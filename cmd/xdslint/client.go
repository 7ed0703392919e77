package main

import (
	"errors"
	"fmt"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"github.com/spf13/pflag"

	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/pull"
)

// clientFlags say which client of a management server to be.
type clientFlags struct {
	ads, node string
	headers   []string
	tls       tlsFlags
}

func (f *clientFlags) addClient(flags *pflag.FlagSet) {
	flags.StringVar(&f.node, "node", "", "`ID` of the node; or @FILE with a whole node (id, cluster, metadata, locality) or a bootstrap")
	flags.StringArrayVar(&f.headers, "header", nil, "header of each request, as `NAME:VALUE`; the value may be @FILE; can be repeated")
	f.tls.add(flags, "--ads")
}

// checkADS finds a mistake in --ads.
func (f *clientFlags) checkADS() error {
	if strings.HasPrefix(f.ads, "http://") || strings.HasPrefix(f.ads, "https://") {
		return errors.New("--ads takes HOST:PORT, not a URL; for a server without TLS add --plaintext")
	}
	return nil
}

// connection returns the server at an address.
func (f *clientFlags) connection(address string) (server pull.Server, err error) {
	server.Address = address
	if server.Headers, err = f.header(); err != nil {
		return server, err
	}
	server.TLS, err = f.tls.config()
	return server, err
}

func (f *clientFlags) identity() (*corev3.Node, error) {
	path, ok := strings.CutPrefix(f.node, "@")
	if !ok {
		return &corev3.Node{Id: f.node}, nil
	}
	text, err := source.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return pull.ParseNode(path, text)
}

// header reads names and values; a value is never printed.
func (f *clientFlags) header() (pairs [][2]string, err error) {
	for _, header := range f.headers {
		name, value, ok := strings.Cut(header, ":")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		if !ok || name == "" || strings.ContainsAny(name, " \t") {
			return nil, errors.New("--header: write NAME:VALUE, such as 'authorization: @token.txt'")
		}
		if path, ok := strings.CutPrefix(value, "@"); ok {
			text, err := source.ReadFile(path)
			if err != nil {
				return nil, err
			}
			value = strings.TrimSpace(string(text))
		}
		if strings.ContainsAny(value, "\r\n") {
			return nil, fmt.Errorf("--header %s: the value has more than one line", name)
		}
		pairs = append(pairs, [2]string{name, value})
	}
	return pairs, nil
}
