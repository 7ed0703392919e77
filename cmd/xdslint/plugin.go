package main

import "github.com/spf13/cobra"

func newPlugin() *cobra.Command {
	return parent(&cobra.Command{Use: "plugin", Short: "Create or test a plugin: custom rules in a WebAssembly module"}, newPluginNew(), newPluginTest())
}
