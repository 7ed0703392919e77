package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint/internal/history"
	"github.com/xdslint/xdslint/internal/recorder"
)

type recordFlags struct {
	listen, upstream, out string
	partSize              int64
	tls                   tlsFlags
	cert, key, clients    string // of the listener
}

func newRecord() *cobra.Command {
	f := &recordFlags{}
	cmd := &cobra.Command{
		Use: "record", Short: "Record what xDS clients and a management server say",
		Long: `record is a proxy between xDS clients and a management server. It passes every call on as it is, and writes what is xDS
to a file that xdslint trace judges: SotW and Delta, aggregated or a stream for each type, and polls by REST over
HTTP/1.1. Secrets are redacted. A message is in the file before it is passed on. It runs until Ctrl-C or SIGTERM.

Clients connect without TLS, unless there is a --listen-tls-cert. Listen on an address that only they reach.

Exit status: 0 stopped, 2 the command line is wrong, 3 it could not listen, or not write.`,
		Example: `  xdslint record --listen 127.0.0.1:18001 --upstream localhost:18000 --plaintext --out xds.jsonl
  xdslint trace xds.jsonl`,
		Args: noArgs, DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.listen, "listen", "127.0.0.1:18001", "`HOST:PORT` for the clients")
	flags.StringVar(&f.upstream, "upstream", "", "management server, as `HOST:PORT`")
	flags.StringVar(&f.out, "out", "", "write the recording to this `FILE`, and its later parts next to it")
	flags.Int64Var(&f.partSize, "part-size", recorder.PartSize>>20, "begin another part after this many `MIB`")
	f.tls.add(flags, "--upstream")
	flags.StringVar(&f.cert, "listen-tls-cert", "", "certificate for the clients, as `FILE`")
	flags.StringVar(&f.key, "listen-tls-key", "", "private key for it, as `FILE`")
	flags.StringVar(&f.clients, "listen-tls-client-ca", "", "accept only clients with a certificate signed by a CA in this `FILE`")
	return cmd
}

func (f *recordFlags) check() error {
	switch {
	case f.upstream == "" || f.out == "":
		return errors.New("record needs --upstream HOST:PORT and --out FILE")
	case f.partSize < 1 || f.partSize > history.MaxSize>>21:
		return fmt.Errorf("--part-size must be 1 to %d", history.MaxSize>>21) // a part ends after the event that fills it
	}
	return checkListen(f.listen)
}

// serving returns the TLS configuration for clients; nil: no TLS.
func (f *recordFlags) serving() (*tls.Config, error) {
	pairs, err := certificates("listen-tls", f.cert, f.key)
	if err != nil {
		return nil, err
	}
	if pairs == nil {
		if f.clients != "" {
			return nil, errors.New("--listen-tls-client-ca needs --listen-tls-cert and --listen-tls-key")
		}
		return nil, nil
	}
	c := &tls.Config{Certificates: pairs, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	if f.clients != "" {
		c.ClientAuth = tls.RequireAndVerifyClientCert
		c.ClientCAs, err = authorities("listen-tls-client-ca", f.clients)
	}
	return c, err
}

func (f *recordFlags) run(cmd *cobra.Command) error {
	if err := f.check(); err != nil {
		return err
	}
	secure, err := f.tls.config()
	if err != nil {
		return err
	}
	serving, err := f.serving()
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", f.listen)
	if err != nil {
		return failed(err)
	}
	if serving != nil {
		l = tls.NewListener(l, serving)
	}
	out, err := recorder.Create(f.out, f.partSize<<20)
	if err != nil {
		return failed(errors.Join(err, l.Close()))
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM)
	defer stop()
	fmt.Fprintln(cmd.OutOrStdout(), "recording", l.Addr())
	proxy := recorder.New(f.upstream, secure, out)
	served := make(chan error, 1)
	go func() { served <- proxy.Serve(l) }()
	select {
	case err = <-served:
	case <-ctx.Done():
	case <-out.Failed():
	}
	proxy.Stop()
	return failed(errors.Join(err, out.Close()))
}
