package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// program is what is measured; those that render add objects to the list.
type program struct {
	name, path string
	renders    bool
}

// sample is what one run took: wall time of the process and its peak memory in
// bytes.
//
// On Linux a new process counts the peak of the one that started it as its own,
// so no peak below that of compare itself can be seen. compare therefore has the
// lists written by another process and never holds one; what `cat` shows is the
// floor that is left, a few megabytes.
type sample struct{ seconds, peak float64 }

// measure runs the program once, with input on stdin and scratch as stdout.
func (p program) measure(input, scratch string) (sample, error) {
	in, err := os.Open(input)
	if err != nil {
		return sample{}, err
	}
	defer in.Close()
	out, err := os.Create(scratch)
	if err != nil {
		return sample{}, err
	}
	defer out.Close()

	cmd := exec.Command(p.path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, os.Stderr
	start := time.Now()
	err = cmd.Run()
	took := time.Since(start)
	if err != nil {
		return sample{}, fmt.Errorf("%s (%s) failed: %w", p.name, p.path, err)
	}
	info, err := out.Stat()
	if err != nil {
		return sample{}, err
	}
	if info.Size() == 0 {
		return sample{}, fmt.Errorf("%s (%s) wrote nothing", p.name, p.path)
	}
	peak := float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
	if runtime.GOOS != "darwin" {
		peak *= 1024 // kilobytes elsewhere
	}
	return sample{took.Seconds(), peak}, nil
}

func medianOf(samples []sample) sample {
	var times, peaks []float64
	for _, s := range samples {
		times, peaks = append(times, s.seconds), append(peaks, s.peak)
	}
	return sample{median(times), median(peaks)}
}

func median(values []float64) float64 {
	slices.Sort(values)
	mid := len(values) / 2
	if len(values)%2 == 0 {
		return (values[mid-1] + values[mid]) / 2
	}
	return values[mid]
}
