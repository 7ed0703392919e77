package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/strict"
	"github.com/xdslint/xdslint/internal/walk"
)

type routeFlags struct {
	inputFlags
	grpcFlags
	authority, path, method string
	headers, alpn           []string
	sni, source, cert, http string
	listener, destination   string
	port                    uint32
	requests, format        string
}

// answerFormats are the formats of the command.
var answerFormats = []string{"text", "jsonl"}

func newRoute() *cobra.Command {
	f := &routeFlags{}
	cmd := &cobra.Command{
		Use: "route PATH…", Short: "Show what Envoy does with a request, or gRPC with an RPC", DisableFlagsInUseLine: true, Args: cobra.ArbitraryArgs,
		Long: `Follow a request through a configuration: listener, filter chain, virtual host, route, HTTP filters, cluster and
endpoints, or the answer that Envoy gives itself. No Envoy runs. What the configuration does not decide, such as the
answer of an authorization service, is not known, and the reason is shown.

The request comes from the flags, or many come from a file with --requests, as one JSON object per line. See
docs/route.md for the fields of requests and answers.

With --target grpc-go and --target-uri, an RPC of a client without a proxy is followed: listener, virtual host, route,
clusters and localities, or the status that it gets. Without --target-uri, it is an RPC that comes to a server:
filter chain, virtual host, route and RBAC.

Exit status: 0 the requests were followed, 1 a file could not be read, 2 the command line or a request is wrong,
3 xdslint failed.`,
		Example: `  xdslint route envoy.yaml --authority shop.example.com --path /cart/items
  xdslint route config_dump.json --port 443 --sni shop.example.com --authority shop.example.com --path / --header "x-user: ann"
  xdslint route configs/ --requests requests.jsonl --format jsonl
  xdslint route resources/ --target grpc-go:1.85 --target-uri xds:///orders.shop:443 --method /shop.Orders/Get
  xdslint route resources/ --target grpc-go:1.85 --port 50051 --source 10.0.0.9 --method /shop.Orders/Get`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.inputFlags.add(cmd)
	flags := cmd.Flags()
	f.grpcFlags.add(flags)
	grouped(flags, requestGroup, func() {
		flags.StringVar(&f.authority, "authority", "", "`HOST` of the request, with a port if the client sends one")
		flags.StringVar(&f.path, "path", "", "`PATH` of the request as it is sent, with its query")
		flags.StringVar(&f.method, "method", "GET", "`METHOD` of the request")
		flags.StringArrayVar(&f.headers, "header", nil, "header of the request, as `NAME:VALUE`; can be repeated")
		flags.StringVar(&f.http, "http", "", "`VERSION` of HTTP: 1.0, 1.1 or 2 (default 1.1, or 2 if the listener takes nothing else)")
		flags.StringVar(&f.sni, "sni", "", "server `NAME` that the client asks for; the connection is TLS")
		flags.StringSliceVar(&f.alpn, "alpn", nil, "application `PROTOCOL`s that the client offers; the connection is TLS")
		flags.Uint32Var(&f.port, "port", 0, "`PORT` of the listener; not needed if there is one listener")
		flags.StringVar(&f.listener, "listener", "", "`NAME` of the listener, where several have the port")
		flags.StringVar(&f.source, "source", "", "`ADDRESS` of the client")
		flags.StringVar(&f.destination, "destination", "", "`ADDRESS:PORT` to which the client connects, if the connection is redirected")
		flags.StringVar(&f.cert, "client-cert", "", "`NAME` in the client's certificate, a URI or a DNS name; the connection is TLS")
		flags.StringVar(&f.requests, "requests", "", "`FILE` with requests, one JSON object per line; - for standard input")
	})
	grouped(flags, outputGroup, func() {
		flags.StringVar(&f.format, "format", "text", "`FORMAT` of the answers: text, jsonl")
	})
	complete(cmd, "format", answerFormats)
	complete(cmd, "http", walk.Versions)
	return cmd
}

func (f *routeFlags) run(cmd *cobra.Command, args []string) error {
	if !slices.Contains(answerFormats, f.format) {
		return unknownFormat(f.format, answerFormats)
	}
	if f.aboutGRPC() {
		return f.runGRPC(cmd, args)
	}
	if (f.path == "") == (f.requests == "") && f.method != "CONNECT" {
		return fmt.Errorf("give a request with --path, or a file with --requests")
	}
	snapshot, err := f.one(cmd, args)
	if err != nil {
		return err
	}
	w := walk.New(snapshot)
	return answerEach(cmd, f, f.request, func(r *walk.Request) (*walk.Answer, error) {
		a, err := w.Walk(r)
		if err != nil {
			return nil, err
		}
		return a.Redacted(), nil
	})
}

// request is the request that the flags describe.
func (f *routeFlags) request() (*walk.Request, error) {
	r := &walk.Request{
		Listener: walk.Listener{Name: f.listener, Port: f.port}, Method: f.method, Source: f.source, Destination: f.destination, SNI: f.sni, ALPN: f.alpn, HTTP: f.http,
		ClientCert: walk.Identity{Presented: f.cert != "", Name: f.cert},
	}
	if f.authority != "" {
		r.Authority = &f.authority
	}
	if f.path != "" {
		r.Path = &f.path
	}
	headers, err := f.headerPairs()
	for _, h := range headers {
		r.Headers = append(r.Headers, walk.Header(h))
	}
	return r, err
}

// headerPairs returns the names and values of the headers in the flags.
func (f *routeFlags) headerPairs() (all [][2]string, err error) {
	for _, h := range f.headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok || name == "" {
			return nil, fmt.Errorf("--header %s: write NAME:VALUE", h)
		}
		all = append(all, [2]string{name, strings.TrimSpace(value)})
	}
	return all, nil
}

// answerEach writes what walk answers to the request of the flags, or to each request of a file.
func answerEach[R any, A interface{ Text(w io.Writer, r *R) error }](
	cmd *cobra.Command, f *routeFlags, request func() (*R, error), walk func(*R) (A, error),
) error {
	out := bufio.NewWriter(cmd.OutOrStdout())
	answer := func(r *R) error {
		a, err := walk(r)
		if err != nil {
			return err
		}
		if f.format == "text" {
			return failed(a.Text(out, r))
		}
		return writeLine(out, a)
	}
	var err error
	if f.requests != "" {
		err = eachRequest(f.requests, answer)
	} else if r, wrong := request(); wrong != nil {
		err = wrong
	} else {
		err = answer(r)
	}
	if err := errors.Join(err, failed(out.Flush())); err != nil {
		return err
	}
	return f.ended(false)
}

// eachRequest calls answer for each request in a file.
func eachRequest[R any](path string, answer func(*R) error) error {
	return eachLine(path, func(_ int, line []byte) error { return readRequest(line, answer) })
}

// readRequest calls answer with the request in a line.
func readRequest[R any](line []byte, answer func(*R) error) error {
	r := new(R)
	if err := strict.JSON(line, r); err != nil {
		return err
	}
	return answer(r)
}

// eachLine calls f for each line of a file that is not blank, with its number.
func eachLine(path string, f func(n int, line []byte) error) error {
	in := io.Reader(os.Stdin)
	if path != "-" {
		file, err := source.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		in = file
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxRequest)
	n := 1
	for ; lines.Scan(); n++ {
		line := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), []byte("\ufeff")))
		if len(line) == 0 {
			continue
		}
		if err := f(n, line); err != nil {
			return fmt.Errorf("%s, line %d: %w", path, n, err)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("%s, line %d: a line can have %d bytes", path, n, maxRequest)
	}
	return lines.Err()
}

// maxRequest is the longest line of a file with requests.
const maxRequest = 16 << 20

// writeLine writes an answer as JSON.
func writeLine(out io.Writer, answer any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return failed(e.Encode(answer))
}
