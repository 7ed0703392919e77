package main

import (
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/xdslint/xdslint/conform"
)

// clientTestFlags are the flags that conform --client reads.
var clientTestFlags = []string{"client", "listen", "wait", "format"}

// checkClients finds mistakes in the flags of conform --client.
func (f *conformFlags) checkClients(cmd *cobra.Command) error {
	if f.listen == "" {
		return errors.New("conform --client needs --listen HOST:PORT")
	}
	var err error
	cmd.LocalNonPersistentFlags().VisitAll(func(flag *pflag.Flag) {
		if flag.Changed && !slices.Contains(clientTestFlags, flag.Name) {
			err = fmt.Errorf("--%s is not for --client", flag.Name)
		}
	})
	return errors.Join(err, checkListen(f.listen))
}

// clients is the management server of the clients that are tested.
func (f *conformFlags) clients(cmd *cobra.Command) (*conform.Report, error) {
	l, err := net.Listen("tcp", f.listen)
	if err != nil {
		return nil, failed(err)
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "xdslint: waiting for clients at", l.Addr())
	wait := f.wait
	if !cmd.Flags().Changed("wait") {
		wait = conform.DefaultClientWait
	}
	report, err := conform.Clients(cmd.Context(), l, wait)
	if cmd.Context().Err() != nil {
		return nil, failed(errors.New("interrupted"))
	}
	return report, failed(err)
}
