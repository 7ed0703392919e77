package servers

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/internal/reference"
	"github.com/xdslint/xdslint/internal/servers/caches"
	"github.com/xdslint/xdslint/pull"
)

// lines is a process that serves what it is sent. It prints its address, and takes lines, each of which it answers with
// "ok":
//
//	set NAME ANY       a resource, in Base64
//	delete TYPE NAME
//	publish            what was sent before
//	apply YAML         all objects of Kubernetes, in Base64
type lines struct {
	in      io.Writer
	out     *bufio.Scanner
	address string
	err     error // the first one
}

// startLines starts a process.
func startLines(ctx context.Context, name string, args ...string) (*lines, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	l := &lines{in: in, out: bufio.NewScanner(out)}
	l.address, err = l.next()
	return l, err
}

// overLines starts a process and fills it for a node.
func overLines(ctx context.Context, node, name string, args ...string) (*Running, error) {
	l, err := startLines(ctx, name, args...)
	if err != nil {
		return nil, err
	}
	reference.Fill(l)
	change := reference.Changer(l)
	return &Running{pull.Server{Address: l.address}, &corev3.Node{Id: node}, func(ctx context.Context, action, what string) error {
		_ = change(ctx, action, what) // it has no errors but those of l
		return l.err
	}}, l.err
}

func (l *lines) next() (string, error) {
	if !l.out.Scan() {
		return "", fmt.Errorf("the server has ended: %w", l.out.Err())
	}
	return l.out.Text(), nil
}

// say sends a line, and reads the answer.
func (l *lines) say(format string, args ...any) {
	if l.err != nil {
		return
	}
	if _, l.err = fmt.Fprintf(l.in, format+"\n", args...); l.err != nil {
		return
	}
	answer, err := l.next()
	if err == nil && answer != "ok" {
		err = fmt.Errorf("the server answers %q", answer)
	}
	l.err = err
}

// Set implements reference.Target.
func (l *lines) Set(name string, m proto.Message) {
	packed, err := anypb.New(m)
	if err != nil {
		panic(err) // it was made here
	}
	raw, err := proto.Marshal(packed)
	if err != nil {
		panic(err)
	}
	l.say("set %s %s", name, base64.StdEncoding.EncodeToString(raw))
}

// Delete implements reference.Target.
func (l *lines) Delete(typeURL, name string) { l.say("delete %s %s", typeURL, name) }

// Publish implements reference.Target.
func (l *lines) Publish() { l.say("publish") }

// javaControlPlane serves a SimpleCache.
func javaControlPlane(ctx context.Context, root, _ string) (*Running, error) {
	built := filepath.Join(root, ".tools/servers/java")
	return overLines(ctx, caches.Node, "java", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
		"-cp", filepath.Join(built, "classes")+":"+filepath.Join(built, "dependency")+"/*", "Server")
}

// goControlPlane serves a cache of the newest go-control-plane.
func goControlPlane(name string) start {
	return func(ctx context.Context, root, _ string) (*Running, error) {
		return overLines(ctx, caches.Node, filepath.Join(root, ".tools/servers/gocp"), name)
	}
}

// cilium serves Cilium's own caches, to a node as it names them.
func cilium(ctx context.Context, root, _ string) (*Running, error) {
	return overLines(ctx, "host~127.0.0.1~no-id~localdomain", filepath.Join(root, ".tools/servers/cilium"))
}
