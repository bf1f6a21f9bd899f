// gohost runs a module as the wasmtime runtime of kpt does, with the libraries
// that kpt embeds and in the same order of calls, but over many lists at once:
//
//	gohost MODULE FOLDER LIST...
//
// For x.yaml it writes FOLDER/x.out, or FOLDER/x.err with the message of a run
// that failed. It ends with 3 if the host had anything to complain of: kpt only
// logs that.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	wasmtime "github.com/bytecodealliance/wasmtime-go"
	"github.com/prep/wasmexec"
	"github.com/prep/wasmexec/wasmtimexec"
)

const function = "processResourceList"

var list = regexp.MustCompile(`(?m)["']?kind["']?\s*:\s*["']?ResourceList`)

// An instance of the module, and the host's complaints.
type instance struct {
	wasmexec.Memory
	*wasmtime.Instance
	store      *wasmtime.Store
	complaints []string
}

func (i *instance) GetSP() (uint32, error) {
	sp, err := i.GetFunc(i.store, "getsp").Call(i.store)
	if err != nil {
		return 0, err
	}
	return uint32(sp.(int32)), nil
}

func (i *instance) Resume() error {
	_, err := i.GetFunc(i.store, "resume").Call(i.store)
	return err
}

func (i *instance) Write(fd int, data []byte) (int, error) {
	i.Error("the module wrote %q to %d, which kpt prints among its own output", data, fd)
	return len(data), nil
}

func (i *instance) Error(format string, params ...any) {
	i.complaints = append(i.complaints, fmt.Sprintf(format, params...))
}

// text is how kpt reads a string of the host: it prints as &{text}.
func text(value any) string {
	printed := fmt.Sprintf("%s", value)
	return printed[2 : len(printed)-1]
}

// run returns the answer, or the message and false.
func run(engine *wasmtime.Engine, module *wasmtime.Module, input string) (answer string, ok bool, complaints []string, err error) {
	i := &instance{store: wasmtime.NewStore(engine)}
	linker := wasmtime.NewLinker(engine)
	host, err := wasmtimexec.Import(i.store, linker, i)
	if err != nil {
		return
	}
	if i.Instance, err = linker.Instantiate(i.store, module); err != nil {
		return
	}
	i.Memory = wasmexec.NewMemory(i.GetExport(i.store, "mem").Memory().UnsafeData(i.store))
	argc, argv, err := wasmexec.SetArgs(i.Memory, []string{"krm-fn-wasm-wasmtime"}, []string{})
	if err != nil {
		return
	}
	if _, err = i.GetFunc(i.store, "run").Call(i.store, argc, argv); err != nil {
		return
	}
	result, err := host.Call(function, input)
	if err != nil {
		return
	}
	trapped := result == nil
	if !trapped {
		answer = text(result)
		if list.MatchString(answer) {
			return answer, true, i.complaints, nil
		}
	}
	before := len(i.complaints)
	if result, err = host.Call(function+"Errors", input); err != nil {
		return
	}
	if trapped { // of which the host tells as well
		i.complaints = i.complaints[before:]
	}
	return text(result), false, i.complaints, nil
}

func main() {
	if err := runAll(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, "gohost:", err)
		os.Exit(3)
	}
}

func runAll(file, folder string, lists []string) error {
	code, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	engine := wasmtime.NewEngine()
	module, err := wasmtime.NewModule(engine, code)
	if err != nil {
		return err
	}
	for _, path := range lists {
		input, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		answer, ok, complaints, err := run(engine, module, string(input))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if len(complaints) > 0 {
			return fmt.Errorf("%s: %s", path, strings.Join(complaints, "\n"))
		}
		name := strings.TrimSuffix(filepath.Base(path), ".yaml") + ".err"
		if ok {
			name = strings.TrimSuffix(filepath.Base(path), ".yaml") + ".out"
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(answer), 0o644); err != nil {
			return err
		}
	}
	return nil
}
