package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

// signature of an exported function; all parameters are i32.
type signature struct {
	name    string
	params  int
	results []api.ValueType
}

var exports = []signature{
	{"xdslint_version", 0, []api.ValueType{api.ValueTypeI32}},
	{"xdslint_alloc", 1, []api.ValueType{api.ValueTypeI32}},
	{"xdslint_free", 2, nil},
	{"xdslint_describe", 0, []api.ValueType{api.ValueTypeI64}},
	{"xdslint_check", 2, []api.ValueType{api.ValueTypeI64}},
}

func (s signature) String() string {
	spelled := s.name + "(" + strings.TrimSuffix(strings.Repeat("i32, ", s.params), ", ") + ")"
	for _, result := range s.results {
		spelled += " -> " + api.ValueTypeName(result)
	}
	return spelled
}

func (s signature) matches(f api.FunctionDefinition) bool {
	params := slices.Repeat([]api.ValueType{api.ValueTypeI32}, s.params)
	return slices.Equal(f.ParamTypes(), params) && slices.Equal(f.ResultTypes(), s.results)
}

// checkInterface checks that the plugin exports what xdslint calls, and that xdslint has what the plugin imports.
func (p *Plugin) checkInterface() error {
	given := p.machine.runtime.Module(wasi).ExportedFunctionDefinitions()
	for _, f := range p.machine.module.ImportedFunctions() {
		if module, name, _ := f.Import(); given[name] == nil {
			return fmt.Errorf("wants to import %s.%s, which WASI does not have", quoted(module), quoted(name))
		}
	}
	if p.machine.module.ExportedMemories()["memory"] == nil {
		return errors.New("has no export memory")
	}
	functions := p.machine.module.ExportedFunctions()
	for _, want := range exports {
		switch f := functions[want.name]; {
		case f == nil:
			return fmt.Errorf("has no export %s", want.name)
		case !want.matches(f):
			return fmt.Errorf("exports %s with other parameters or results than %s", want.name, want)
		}
	}
	return nil
}

// isProgram explains a failure whose cause may be that the module is a program: its _start is never called.
func (p *Plugin) isProgram() []string {
	functions := p.machine.module.ExportedFunctions()
	if functions["_start"] == nil || functions["_initialize"] != nil {
		return nil
	}
	return []string{"it is built as a program: a plugin is a library (a WASI reactor; in Go, -buildmode=c-shared)"}
}

// describe asks the plugin for its Description.
func (p *Plugin) describe(ctx context.Context) (raw []byte, why *lint.EvalError) {
	return p.ask(ctx, func(ctx context.Context, i *instance) ([]byte, error) {
		version, err := i.call(ctx, "xdslint_version")
		if err != nil {
			return nil, err
		}
		if spoken := int32(version); spoken != Version {
			return nil, fault("uses version %d of the interface, but this xdslint uses version %d", spoken, Version)
		}
		packed, err := i.call(ctx, "xdslint_describe")
		if err != nil {
			return nil, err
		}
		return i.take(ctx, packed)
	})
}

// judge asks the plugin for its Findings in a Snapshot.
func (p *Plugin) judge(ctx context.Context, snapshot []byte) (raw []byte, why *lint.EvalError) {
	if len(snapshot) > p.options.Memory {
		return nil, &lint.EvalError{Message: fmt.Sprintf("cannot read so much: the messages take %s, and its memory is limited to %s", size(len(snapshot)), size(p.options.Memory))}
	}
	return p.ask(ctx, func(ctx context.Context, i *instance) ([]byte, error) {
		at, err := i.give(ctx, snapshot)
		if err != nil {
			return nil, err
		}
		packed, err := i.call(ctx, "xdslint_check", at, uint64(len(snapshot)))
		if err != nil {
			return nil, err
		}
		answer, err := i.take(ctx, packed)
		if err != nil {
			return nil, err
		}
		_, err = i.call(ctx, "xdslint_free", at, uint64(len(snapshot)))
		return answer, err
	})
}

// instance is a running plugin. Each call has its own: what an earlier call left in memory, even the order of its maps, must not change what the next one
// finds.
type instance struct {
	module api.Module
	stderr *head
}

// ask starts an instance, and calls f with it.
func (p *Plugin) ask(ctx context.Context, f func(context.Context, *instance) ([]byte, error)) ([]byte, *lint.EvalError) {
	limited, cancel := context.WithTimeout(ctx, p.options.Time)
	defer cancel()
	i := &instance{stderr: &head{}}
	answer, err := i.run(limited, p, f)
	switch {
	case err == nil:
		return answer, nil
	case limited.Err() != nil:
		return nil, &lint.EvalError{Message: fmt.Sprintf("took longer than %s", p.options.Time), Notes: i.said()}
	}
	return nil, i.reason(err)
}

func (i *instance) run(ctx context.Context, p *Plugin, f func(context.Context, *instance) ([]byte, error)) (answer []byte, err error) {
	config := wazero.NewModuleConfig().WithName("").WithStderr(i.stderr).WithStdout(io.Discard).WithStartFunctions("_initialize")
	if i.module, err = p.machine.runtime.InstantiateModule(withMemory(ctx), p.machine.module, config); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, i.module.Close(context.WithoutCancel(ctx))) }()
	return f(ctx, i)
}

// call calls an exported function. It returns 0 for a function without a result.
func (i *instance) call(ctx context.Context, name string, args ...uint64) (uint64, error) {
	results, err := i.module.ExportedFunction(name).Call(ctx, args...)
	if err != nil || len(results) == 0 {
		return 0, err
	}
	return results[0], nil
}

// give copies bytes into the plugin's memory.
func (i *instance) give(ctx context.Context, raw []byte) (at uint64, err error) {
	result, err := i.call(ctx, "xdslint_alloc", uint64(len(raw)))
	if err != nil {
		return 0, err
	}
	if at := uint32(result); at == 0 && len(raw) > 0 || !i.module.Memory().Write(at, raw) {
		return 0, fault("allocates %s at %#x, but has only %s of memory", size(len(raw)), at, size(int(i.module.Memory().Size())))
	}
	return uint64(uint32(result)), nil
}

// take copies bytes out of the plugin's memory: pointer<<32 | length.
func (i *instance) take(ctx context.Context, packed uint64) ([]byte, error) {
	at, length := uint32(packed>>32), uint32(packed)
	if length > MaxAnswer {
		return nil, fault("returns an answer of %s; the limit is %s", size(int(length)), size(MaxAnswer))
	}
	raw, ok := i.module.Memory().Read(at, length)
	if !ok {
		return nil, fault("returns an answer of %s at %#x, but has only %s of memory", size(int(length)), at, size(int(i.module.Memory().Size())))
	}
	answer := slices.Clone(raw)
	_, err := i.call(ctx, "xdslint_free", uint64(at), uint64(length))
	return answer, err
}

// faulty is an error of a plugin that did not crash.
type faulty string

func (f faulty) Error() string { return string(f) }

func fault(format string, args ...any) error { return faulty(fmt.Sprintf(format, args...)) }

// reason says why a call failed.
func (i *instance) reason(err error) *lint.EvalError {
	var (
		wrong  faulty
		exit   *sys.ExitError
		notes  = i.said()
		reason string
	)
	switch {
	case errors.As(err, &wrong):
		return &lint.EvalError{Message: string(wrong), Notes: notes}
	case len(notes) > 0:
		reason, notes = notes[0], notes[1:]
	case errors.As(err, &exit):
		return &lint.EvalError{Message: fmt.Sprintf("exited with status %d", exit.ExitCode())}
	default:
		first, _, _ := strings.Cut(err.Error(), "\n")
		_, trap, trapped := strings.Cut(first, "wasm error: ")
		if !trapped && i.module == nil {
			return &lint.EvalError{Message: "cannot start: " + words.Line(first)}
		}
		if reason = first; trapped {
			reason = trap
		}
	}
	return &lint.EvalError{Message: "crashed: " + words.Line(reason), Notes: notes}
}

// said are the first lines that the plugin wrote to standard error.
func (i *instance) said() (lines []string) {
	const shown = 3
	for text := range strings.SplitSeq(words.Printable(strings.ToValidUTF8(string(i.stderr.text), "")), "\n") {
		if text = words.Line(text); text != "" && len(lines) < shown {
			lines = append(lines, text)
		}
	}
	return lines
}

// head keeps the beginning of everything that is written to it.
type head struct{ text []byte }

func (h *head) Write(p []byte) (int, error) {
	const kept = 4 << 10
	h.text = append(h.text, p[:min(len(p), kept-len(h.text))]...)
	return len(p), nil
}
