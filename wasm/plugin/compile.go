package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/xdslint/xdslint/internal/words"
)

var errSlow = fmt.Errorf("takes longer than %s to compile", MaxCompile)

// machine is a module after wazero has compiled it.
type machine struct {
	runtime wazero.Runtime
	cache   wazero.CompilationCache // nil: none
	module  wazero.CompiledModule
}

// compile waits at most MaxCompile. wazero's compiler cannot be stopped: its result is discarded when it is done.
func compile(ctx context.Context, module []byte, options Options) (*machine, error) {
	limited, cancel := context.WithTimeout(ctx, MaxCompile)
	defer cancel()
	m, done := &machine{}, make(chan error, 1)
	lasting := context.WithoutCancel(ctx)
	go func() { done <- m.compile(lasting, module, options) }()
	select {
	case err := <-done:
		if err != nil {
			return nil, errors.Join(err, m.close(lasting))
		}
		return m, nil
	case <-limited.Done():
		go func() { _ = errors.Join(<-done, m.close(lasting)) }()
		return nil, cmp.Or(ctx.Err(), errSlow)
	}
}

// compile creates the runtime, with all that plugins can import: WASI, with a clock that only counts how often it is read, random numbers that are always
// the same, and sleeps that return at once.
func (m *machine) compile(ctx context.Context, module []byte, options Options) (err error) {
	defer func() {
		if p := recover(); p != nil { // a bug in wazero must not end the run
			err = fmt.Errorf("does not compile: %s", words.Line(fmt.Sprint(p)))
		}
	}()
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(uint32(options.Memory / pageSize)).WithCloseOnContextDone(true).WithDebugInfoEnabled(false)
	if options.Cache != "" {
		if cache, err := wazero.NewCompilationCacheWithDir(options.Cache); err == nil {
			m.cache, config = cache, config.WithCompilationCache(cache)
		}
	}
	m.runtime = wazero.NewRuntimeWithConfig(ctx, config)
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, m.runtime); err != nil {
		return err
	}
	if m.module, err = m.runtime.CompileModule(ctx, module); err != nil {
		return fmt.Errorf("does not compile: %s", words.Line(err.Error()))
	}
	return nil
}

func (m *machine) close(ctx context.Context) error {
	var errs []error
	if m.runtime != nil {
		errs = append(errs, m.runtime.Close(ctx))
	}
	if m.cache != nil {
		errs = append(errs, m.cache.Close(ctx))
	}
	return errors.Join(errs...)
}
