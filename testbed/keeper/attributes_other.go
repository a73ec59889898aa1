//go:build unix && !linux

package main

import "syscall"

// childAttributes puts the child in a process group of its own. Only Linux can also tie its life to
// the keeper's; elsewhere a killed keeper leaves its child behind.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
