package main

import "syscall"

// childAttributes puts the child in a process group of its own, and has the kernel kill it if the
// keeper itself is killed.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
