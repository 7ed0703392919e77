//go:build wasip1

// The wasi command is the engine for hosts other than browsers: each line of its input is an operation, a space and a
// request, each line of its output an answer.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"log"
	"os"

	"github.com/xdslint/xdslint/custom"
	"github.com/xdslint/xdslint/internal/playground"
	"github.com/xdslint/xdslint/internal/requestbar"
	"github.com/xdslint/xdslint/rules"
)

func main() {
	e := &playground.Engine{Custom: custom.Constraints(rules.All(), nil), Follow: requestbar.Follow, Holes: requestbar.FindHoles}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			log.Fatal(err)
		}
		operation, request, _ := bytes.Cut(line, []byte(" "))
		if _, err := os.Stdout.Write(e.Call(string(operation), request)); err != nil {
			log.Fatal(err)
		}
	}
}
