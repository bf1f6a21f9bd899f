package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// counts is how often each kind is named in a list. Some objects name theirs in
// an annotation too, so only the difference of two counts means anything.
type counts map[string]int

// count reads line by line: see sample for why a list must not be held.
func count(file string) (counts, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	kinds := counts{}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if kind, ok := strings.CutPrefix(strings.TrimLeft(lines.Text(), " -"), "kind: "); ok {
			kinds[kind]++
		}
	}
	return kinds, lines.Err()
}

// verify fails unless the program has added what each cluster leads to, and
// nothing else.
func (p program) verify(before, after counts, clusters int) error {
	want := counts{}
	for kind, n := range before {
		want[kind] = n
	}
	if p.renders {
		want["Service"] += shards * clusters
		want["ValkeyNode"] += nodes * clusters
		want["TCPRoute"] += nodes * clusters
	}
	for kind := range after {
		want[kind] += 0
	}
	for kind, n := range want {
		if after[kind] != n {
			return fmt.Errorf("%s (%s) must write %d times `kind: %s`, got %d", p.name, p.path, n, kind, after[kind])
		}
	}
	return nil
}
