package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint"
)

// progress shows on a terminal what a run is doing, if it takes longer than a second.
type progress struct {
	w    io.Writer
	quit chan struct{}
	done sync.WaitGroup
	mu   sync.Mutex
	text string
}

// newLinter creates a linter, and its progress.
func newLinter(stderr io.Writer, o xdslint.Options) (*xdslint.Linter, *progress, error) {
	p := &progress{w: stderr}
	o.Progress = p.say
	l, err := xdslint.New(o)
	return l, p, err
}

// prepared returns the linter of a command, its progress, and its input.
func prepared(cmd *cobra.Command, args []string, o xdslint.Options) (*xdslint.Linter, *progress, xdslint.Input, error) {
	in, err := input(cmd, args, o.Config)
	if err != nil {
		return nil, nil, in, err
	}
	l, p, err := newLinter(cmd.ErrOrStderr(), o)
	return l, p, in, err
}

func (p *progress) start() *progress {
	if f, ok := p.w.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
		p.quit = make(chan struct{})
		p.done.Go(p.show)
	}
	return p
}

func (p *progress) show() {
	wait, shown := time.NewTimer(time.Second), false
	defer wait.Stop()
	for {
		select {
		case <-p.quit:
			if shown {
				fmt.Fprint(p.w, "\r\x1b[K")
			}
			return
		case <-wait.C:
			p.mu.Lock()
			text := p.text
			p.mu.Unlock()
			fmt.Fprintf(p.w, "\r\x1b[K%.79s", text)
			shown = true
			wait.Reset(200 * time.Millisecond)
		}
	}
}

func (p *progress) say(text string) {
	p.mu.Lock()
	p.text = text
	p.mu.Unlock()
}

func (p *progress) stop() {
	if p.quit != nil {
		close(p.quit)
		p.done.Wait()
	}
}
