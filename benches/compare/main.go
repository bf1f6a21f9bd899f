// compare measures expose-valkey against the same function written in Go
// (go-peer), against the least that a function on the same Go SDK can take
// (go-noop), and against `cat`: all of them read the same ResourceLists from a
// file on stdin and write to a file, taking turns. It prints a table for each
// list and judges nothing, but fails when a program fails, writes nothing, or
// writes other objects than it should.
//
//	compare -ours BINARY -peer BINARY -noop BINARY [-runs N] [-items N] [-clusters N]
//	compare -emit FILE.yaml [-items N] [-clusters N]     only writes FILE.yaml and FILE-single.yaml
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// workload is one ResourceList to measure with.
type workload struct {
	title           string
	items, clusters int
	file            string
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run() error {
	ours := flag.String("ours", "", "the program to measure")
	peer := flag.String("peer", "", "go-peer, built")
	noop := flag.String("noop", "", "go-noop, built")
	runs := flag.Int("runs", 5, "how often each program runs on the large list; ten times as often on the small one")
	items := flag.Int("items", 10000, "items of the large list")
	clusters := flag.Int("clusters", 100, "how many of these items are ValkeyClusters")
	emit := flag.String("emit", "", "write the large list to this file, the small one beside it, and stop")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flag.Arg(0))
	}
	if *clusters < 1 || *clusters > *items {
		return errors.New("-clusters must be at least 1 and at most -items")
	}

	many := workload{title: "large list", items: *items, clusters: *clusters}
	single := workload{title: "single cluster", items: 1, clusters: 1}
	if *emit != "" {
		return emitAll(*emit, &many, &single)
	}

	if *runs < 1 {
		return errors.New("-runs must be at least 1")
	}
	cat, err := exec.LookPath("cat")
	if err != nil {
		return err
	}
	programs := []program{{"ours", *ours, true}, {"peer", *peer, true}, {"noop", *noop, false}, {"cat", cat, false}}
	for _, p := range programs {
		if p.path == "" {
			return fmt.Errorf("-%s must be set", p.name)
		}
	}
	dir, err := os.MkdirTemp("", "compare-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := emitApart(filepath.Join(dir, "input.yaml"), &many, &single); err != nil {
		return err
	}
	output := filepath.Join(dir, "output")
	if err := many.compare(os.Stdout, programs, *runs, output); err != nil {
		return err
	}
	// A run on the small list takes next to no time, and its time varies more.
	return single.compare(os.Stdout, programs, *runs*10, output)
}

// place says where the lists of -emit are.
func place(file string, many, single *workload) {
	ext := filepath.Ext(file)
	many.file, single.file = file, strings.TrimSuffix(file, ext)+"-single"+ext
}

// emitAll writes the lists.
func emitAll(file string, many, single *workload) error {
	place(file, many, single)
	return errors.Join(many.write(), single.write())
}

// emitApart has them written by a process of their own: see sample for why this
// one must stay small.
func emitApart(file string, many, single *workload) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	place(file, many, single)
	cmd := exec.Command(self, "-emit", file, "-items", strconv.Itoa(many.items), "-clusters", strconv.Itoa(many.clusters))
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// write generates the list.
func (w workload) write() error {
	file, err := os.Create(w.file)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(file)
	writeList(buffered, w.items, w.clusters)
	return errors.Join(buffered.Flush(), file.Close())
}

// compare measures the programs on one list and prints the table.
func (w workload) compare(out io.Writer, programs []program, runs int, scratch string) error {
	info, err := os.Stat(w.file)
	if err != nil {
		return err
	}
	size := float64(info.Size())
	before, err := count(w.file)
	if err != nil {
		return err
	}
	all := make([][]sample, len(programs))
	for turn := range runs {
		for i := range programs {
			// Each turn starts with another program, so that none always
			// follows the same one.
			at := (i + turn) % len(programs)
			s, err := programs[at].measure(w.file, scratch)
			if err != nil {
				return err
			}
			all[at] = append(all[at], s)
			after, err := count(scratch)
			if err != nil {
				return err
			}
			if err := programs[at].verify(before, after, w.clusters); err != nil {
				return fmt.Errorf("%s: %w", w.title, err)
			}
		}
	}

	fmt.Fprintf(out, "%s: %d items, %d clusters, %s; medians of %d runs\n", w.title, w.items, w.clusters, bytes(size), runs)
	fmt.Fprintf(out, "  %-6s %12s %12s %12s %14s %12s\n", "", "time", "time/ours", "time/cat", "peak memory", "peak/input")
	first, last := medianOf(all[0]), medianOf(all[len(all)-1])
	for i, p := range programs {
		m := medianOf(all[i])
		mark := ""
		if m.peak <= last.peak {
			mark = "≤ " // the floor: see sample
		}
		fmt.Fprintf(out, "  %-6s %9.1f ms %12.2f %12.2f %14s %12s\n", p.name, m.seconds*1000, m.seconds/first.seconds,
			m.seconds/last.seconds, mark+bytes(m.peak), mark+fmt.Sprintf("%.2f", m.peak/size))
	}
	fmt.Fprintln(out)
	return nil
}

// bytes prints a size in decimal units, as file sizes are usually given.
func bytes(n float64) string {
	if n < 1e5 {
		return fmt.Sprintf("%.1f kB", n/1e3)
	}
	return fmt.Sprintf("%.1f MB", n/1e6)
}
