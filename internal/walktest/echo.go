package walktest

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// echo is an upstream that speaks HTTP/1.1, and answers every request with the bytes of its head, encoded. It is not a server of net/http, which
// rejects paths that Envoy passes on.
type echo struct{ net.Listener }

func startEcho() (echo, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return echo{}, err
	}
	e := echo{l}
	go e.serve()
	return e, nil
}

func (e echo) port() int { return e.Addr().(*net.TCPAddr).Port }

func (e echo) serve() {
	for {
		conn, err := e.Accept()
		if err != nil {
			return
		}
		go e.answer(conn)
	}
}

func (e echo) answer(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		head, err := readHead(in)
		if err != nil {
			return
		}
		if err := skipBody(in, head); err != nil {
			return
		}
		body := base64.StdEncoding.EncodeToString([]byte(strings.Join(head, "\n")))
		status := "200 OK"
		if strings.HasPrefix(head[0], "HEAD ") {
			body = ""
		}
		if _, err := fmt.Fprintf(conn, "HTTP/1.1 %s\r\nx-echo: %s\r\nx-echo-at: %s\r\ncontent-length: %d\r\n\r\n%s", status, echoed(head), conn.LocalAddr(), len(body), body); err != nil {
			return
		}
	}
}

// echoed is the head of a request as a header, which an answer to HEAD has too.
func echoed(head []string) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Join(head, "\n")))
}

// readHead returns the lines of a head.
func readHead(in *bufio.Reader) (lines []string, err error) {
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		if line = strings.TrimRight(line, "\r\n"); line == "" {
			if len(lines) == 0 {
				return nil, io.ErrUnexpectedEOF
			}
			return lines, nil
		}
		lines = append(lines, line)
	}
}

// skipBody reads the body of a request, with a length or in chunks.
func skipBody(in *bufio.Reader, head []string) error {
	for _, line := range head[1:] {
		name, value, _ := strings.Cut(line, ":")
		switch strings.ToLower(name) {
		case "content-length":
			n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			if err != nil {
				return err
			}
			_, err = io.CopyN(io.Discard, in, n)
			return err
		case "transfer-encoding":
			return skipChunks(in)
		}
	}
	return nil
}

func skipChunks(in *bufio.Reader) error {
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		n, err := strconv.ParseInt(strings.TrimSpace(line), 16, 64)
		if err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, in, n+2); err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
	}
}

// decodeHead returns the lines that an upstream saw.
func decodeHead(text string) []string {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw) == 0 {
		return nil
	}
	return strings.Split(string(raw), "\n")
}
