// go-noop reads a ResourceList and writes it back with the same Go SDK that
// go-peer is built on, and does nothing in between: what it takes is the least
// that a function written on that SDK can take.
package main

import (
	"os"

	"github.com/kptdev/krm-functions-sdk/go/fn"
)

func process(*fn.ResourceList) (bool, error) { return true, nil }

func main() {
	if err := fn.AsMain(fn.ResourceListProcessorFunc(process)); err != nil {
		os.Exit(1)
	}
}
