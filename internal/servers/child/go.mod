// In Go, what servers do that `make conform-servers` builds: each is a module of its own, with this one.
module github.com/xdslint/xdslint/internal/servers/child

go 1.26

require google.golang.org/protobuf v1.36.6
