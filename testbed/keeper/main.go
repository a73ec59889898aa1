// Command keeper looks after the parts of a testbed, so that nothing outlives the test that wanted
// it. It is apart from the control plane's binary because one keeper runs beside every part: this
// one takes a few megabytes, and builds in seconds.
package main

import (
	"fmt"
	"os"
)

const exitUsage = 2

const usage = `usage:
  keeper supervise COMMAND [ARGUMENTS...]   run a command until standard input closes
  keeper sweep DIRECTORY                    remove a directory after standard input closes
  keeper credentials DIRECTORY              write a CA, a serving certificate and a token key`

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(exitUsage)
	}
	switch os.Args[1] {
	case "supervise":
		os.Exit(supervise(os.Args[2], os.Args[3:]))
	case "sweep":
		os.Exit(report(sweep(os.Args[2])))
	case "credentials":
		os.Exit(report(writeCredentials(os.Args[2])))
	default:
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(exitUsage)
	}
}

func report(err error) int {
	if err != nil {
		fmt.Fprintf(os.Stderr, "keeper: %v\n", err)
		return 1
	}
	return 0
}
