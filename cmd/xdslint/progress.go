package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/mattn/go-isatty"

	"github.com/xdslint/xdslint/graph/load"
)

// progress shows on a terminal what takes longer than a second. The zero value shows nothing.
type progress struct {
	w     io.Writer
	quit  chan struct{}
	done  sync.WaitGroup
	mu    sync.Mutex
	text  string
	files int
}

func startProgress(w io.Writer) *progress {
	p := &progress{w: w}
	if f, ok := w.(*os.File); !ok || !isatty.IsTerminal(f.Fd()) {
		return p
	}
	p.quit = make(chan struct{})
	p.done.Go(p.show)
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

func (p *progress) reading(path string) {
	if p.quit != nil {
		p.files++ // one call at a time
		p.say(fmt.Sprintf("reading file %d: %s", p.files, path))
	}
}

func (p *progress) checking(input *load.Input) {
	if p.quit != nil {
		n := 0
		for _, s := range input.Snapshots {
			n += len(s.Resources)
		}
		p.say(fmt.Sprintf("checking %d resources", n))
	}
}

func (p *progress) stop() {
	if p.quit != nil {
		close(p.quit)
		p.done.Wait()
	}
}
