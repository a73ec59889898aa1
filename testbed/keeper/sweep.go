package main

import (
	"io"
	"os"
	"time"
)

// sweepDelay is one second more than the supervised parts have to end, so that none of them still
// writes into the directory.
const sweepDelay = terminateGrace + time.Second

// sweep removes a directory after its owner is gone. An owner that ends in good order has removed
// it already, and then there is nothing to wait for.
func sweep(directory string) error {
	_, _ = io.Copy(io.Discard, os.Stdin)
	if _, err := os.Stat(directory); os.IsNotExist(err) {
		return nil
	}
	time.Sleep(sweepDelay)
	return os.RemoveAll(directory)
}
