package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/cmd/xdslint/internal/start"
	"github.com/xdslint/xdslint/internal/server"
)

type serveFlags struct {
	checkFlags
	listen    string
	tls       server.Files
	maxBody   string
	timeout   time.Duration
	judged    int
	webhook   bool
	logFormat string
}

var logFormats = []string{"text", "json"}

func newServe() *cobra.Command {
	f := &serveFlags{}
	cmd := &cobra.Command{
		Use: "serve", Short: "Lint and plan over HTTP, and validate for Kubernetes", Args: noArgs, DisableFlagsInUseLine: true,
		Long: `serve answers over HTTP:

  POST /v1/lint       takes a file, or multipart/form-data with several files; answers with the JSON of lint, or SARIF
  POST /v1/plan       takes multipart/form-data with files named old and new; answers with the JSON of plan
  POST /k8s/validate  takes and answers with a Kubernetes AdmissionReview
  GET  /healthz, /readyz, /metrics, /openapi.yaml

The configuration and the flags apply to all requests. Requests never read files on the server. Send the files that a
bootstrap names in the same request.

Without a certificate it serves plain HTTP, and only on a loopback address. A changed certificate is loaded again.
SIGTERM and SIGINT stop the server when all requests are answered, a second signal at once.

Exit status: 0 stopped by a signal, 2 the command line or the configuration is wrong, 3 xdslint failed.`,
		Example: `  xdslint serve --listen localhost:8080
  curl --data-binary @envoy.yaml 'localhost:8080/v1/lint?filename=envoy.yaml'
  curl -F old=@today.yaml -F new=@tomorrow.yaml localhost:8080/v1/plan`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	grouped(flags, serverGroup, func() { f.addServer(flags) })
	f.addRules(cmd)
	f.addConfig(flags)
	f.addWorld(cmd)
	grouped(flags, inputGroup, func() { addDescriptors(flags, &f.descriptors) })
	complete(cmd, "log-format", logFormats)
	return cmd
}

// addServer adds the flags about the server itself.
func (f *serveFlags) addServer(flags *pflag.FlagSet) {
	flags.StringVar(&f.listen, "listen", "localhost:8080", "address to serve, as `HOST:PORT`; port 0 selects any free port")
	flags.StringVar(&f.tls.Cert, "tls-cert", "", "certificate of the server, as PEM `FILE`")
	flags.StringVar(&f.tls.Key, "tls-key", "", "private key of the server, as PEM `FILE`")
	flags.StringVar(&f.tls.ClientCA, "tls-client-ca", "", "accept only clients with a certificate signed by a CA in this PEM `FILE`, except on /healthz and /readyz")
	flags.BoolVar(&f.webhook, "webhook-only", false, "serve /k8s/validate and no other linting: /healthz, /readyz and /metrics remain")
	flags.StringVar(&f.maxBody, "max-body", "32MiB", "largest `SIZE` of a request body, in bytes, KiB or MiB")
	flags.DurationVar(&f.timeout, "timeout", server.DefaultTimeout, "longest `DURATION` to receive a request, and again to judge it")
	flags.IntVar(&f.judged, "max-concurrent", 0, "judge at most `N` requests at once (default: one for each processor)")
	flags.StringVar(&f.logFormat, "log-format", logFormats[0], "`FORMAT` of the log on standard error: "+strings.Join(logFormats, ", "))
}

func (f *serveFlags) run(cmd *cobra.Command) error {
	options, err := f.serverOptions()
	if err != nil {
		return err
	}
	if options.Log, err = f.log(cmd.ErrOrStderr()); err != nil {
		return err
	}
	o, err := settings(cmd.Context(), f)
	if err != nil {
		return err
	}
	if options.Linter, err = xdslint.New(o); err != nil {
		return err
	}
	served, err := server.New(options)
	if err != nil {
		return err
	}
	l, err := served.Listen(f.listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", f.listen, err)
	}

	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM)
	defer stop()
	// The first signal stops gracefully, the second one at once, whichever they are.
	context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt, syscall.SIGTERM) })
	// With Go's default of 100 a server answers half as many requests; with the 400 of internal/start it uses 50% more memory.
	if os.Getenv("GOGC") == "" {
		start.Fix(200)
	}
	scheme := "http"
	if options.TLS != nil {
		scheme = "https"
	}
	fmt.Fprintf(cmd.OutOrStdout(), "serving %s://%s\n", scheme, l.Addr())
	return failed(served.Serve(ctx, l))
}

// serverOptions translates the flags into options of a server.
func (f *serveFlags) serverOptions() (server.Options, error) {
	if err := checkListen(f.listen); err != nil {
		return server.Options{}, err
	}
	options := server.Options{Timeout: f.timeout, MaxConcurrent: f.judged, WebhookOnly: f.webhook}
	switch {
	case (f.tls.Cert == "") != (f.tls.Key == ""):
		return options, errors.New("--tls-cert and --tls-key must be used together")
	case f.tls.Cert == "" && f.tls.ClientCA != "":
		return options, errors.New("--tls-client-ca needs --tls-cert and --tls-key")
	case f.tls.Cert != "":
		options.TLS = &f.tls
	}
	if f.timeout < time.Millisecond {
		return options, fmt.Errorf("--timeout: %s is too short", f.timeout)
	}
	if f.judged < 0 {
		return options, fmt.Errorf("--max-concurrent: %d is less than one", f.judged)
	}
	var err error
	options.MaxBody, err = parseSize(f.maxBody)
	if err != nil {
		return options, fmt.Errorf("--max-body: %w", err)
	}
	return options, nil
}

// parseSize reads a number of bytes.
func parseSize(text string) (int64, error) {
	number, unit := text, int64(1)
	for i, suffix := range []string{"KiB", "MiB"} {
		if rest, ok := strings.CutSuffix(text, suffix); ok {
			number, unit = rest, 1<<(10*(i+1))
		}
	}
	// Up to the limit of a file: a text takes many times its size in memory.
	const largest = 256 << 20
	n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	if err != nil || n < 1 || n > largest/unit {
		return 0, fmt.Errorf("invalid size %q: must be from 1 byte to 256MiB, such as 32MiB", text)
	}
	return n * unit, nil
}

func (f *serveFlags) log(w io.Writer) (*slog.Logger, error) {
	switch f.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(w, nil)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, nil)), nil
	}
	return nil, unknownFormat(f.logFormat, logFormats)
}
