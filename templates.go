package xdslint

import "embed"

// Templates holds what `xdslint plugin new` copies: the SDKs, and the examples of plugins.
//
//go:embed go.mod go.sum
//go:embed sdk/*.go internal/pluginabi/plugin.pb.go
//go:embed examples/plugin-go/.xdslint.yaml examples/plugin-go/README.md examples/plugin-go/*.go examples/plugin-go/testdata
//go:embed sdk/rust/Cargo.toml sdk/rust/Cargo.lock sdk/rust/src
//go:embed examples/plugin-rust/.gitignore examples/plugin-rust/.xdslint.yaml examples/plugin-rust/README.md
//go:embed examples/plugin-rust/Cargo.toml examples/plugin-rust/Cargo.lock examples/plugin-rust/src examples/plugin-rust/testdata
var Templates embed.FS
