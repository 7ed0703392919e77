//go:build wasip1 && !larger

package main

import "github.com/xdslint/xdslint/internal/playground"

// newEngine makes the smaller engine, which asks for the larger one if it is needed.
func newEngine() *playground.Engine { return &playground.Engine{} }
