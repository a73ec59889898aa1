package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// terminateGrace is how long a part may take to end by itself after TERM. A testbed keeps nothing
// worth flushing, so this only bounds how long the end of a test can take.
const terminateGrace = time.Second

const (
	exitNotStarted = 127
	signalBase     = 128 // shells report death by signal N as 128+N
)

// supervise starts a command and ends it when standard input closes. Whoever holds the other end of
// that pipe need not live to clean up: the kernel closes it on panic, Ctrl-C and SIGKILL alike.
func supervise(command string, arguments []string) int {
	// The parent-death signal follows the thread that forked, so that thread must live on.
	runtime.LockOSThread()
	child := exec.Command(command, arguments...)
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	child.SysProcAttr = childAttributes()
	if err := child.Start(); err != nil {
		fmt.Fprintf(os.Stderr, "keeper: %v\n", err)
		return exitNotStarted
	}
	// The first line of every log: which process the lines below come from.
	fmt.Fprintf(os.Stderr, "keeper: pid %d runs %s\n", child.Process.Pid, command)

	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	ownerGone := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ownerGone)
	}()

	select {
	case err := <-ended:
		return exitCode(err)
	case <-ownerGone:
		return endGroup(child.Process.Pid, ended)
	}
}

// endGroup asks the child's whole process group to end, and makes it so after the grace.
func endGroup(pid int, ended <-chan error) int {
	_ = syscall.Kill(-pid, syscall.SIGTERM)
	select {
	case err := <-ended:
		// What the child may have left behind in its group goes too.
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		return exitCode(err)
	case <-time.After(terminateGrace):
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		return exitCode(<-ended)
	}
}

func exitCode(err error) int {
	if err == nil {
		return 0
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return exitNotStarted
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return signalBase + int(status.Signal())
	}
	return exit.ExitCode()
}
