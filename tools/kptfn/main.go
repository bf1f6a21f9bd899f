// kptfn is the function part of kpt (`kpt fn …`, `kpt alpha wasm …`) as a
// program of its own: it mounts two commands of kpt's published module. They
// are all that a test of a function needs, and they build without what the
// rest of kpt requires (the clients of `kpt live`, the module of its rollouts).
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/kptdev/kpt/commands/alpha/wasm"
	"github.com/kptdev/kpt/commands/fn"
	"github.com/kptdev/kpt/pkg/lib/errors"
	"github.com/kptdev/kpt/pkg/lib/errors/resolver"
	"github.com/kptdev/kpt/pkg/printer"
	"github.com/spf13/cobra"
)

func main() {
	root := &cobra.Command{Use: "kpt", SilenceUsage: true, SilenceErrors: true}
	root.PersistentFlags().BoolVar(&printer.TruncateOutput, "truncate-output", true, "shorten long output of functions")
	ctx := printer.WithContext(context.Background(), printer.New(root.OutOrStdout(), root.ErrOrStderr()))
	alpha := &cobra.Command{Use: "alpha"}
	alpha.AddCommand(wasm.NewCommand(ctx, "kpt"))
	root.AddCommand(fn.GetCommand(ctx, "kpt"), alpha)

	if err := root.ExecuteContext(ctx); err != nil {
		os.Exit(report(err))
	}
}

// report prints an error as kpt does and returns the exit code for it.
func report(err error) int {
	if known, ok := resolver.ResolveError(err); ok {
		if known.Message != "" {
			fmt.Fprintln(os.Stderr, known.Message)
		}
		return known.ExitCode
	}
	if inner, ok := errors.UnwrapErrors(err); ok {
		err = inner
	}
	fmt.Fprintf(os.Stderr, "Error: %v\n", err)
	return 1
}
