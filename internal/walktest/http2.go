package walktest

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/xdslint/xdslint/internal/walk"
)

// ask2 sends a request over HTTP/2, with the pseudo headers as they are, and reads the answer.
func ask2(conn net.Conn, r *walk.Request) (*http.Response, error) {
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		return nil, err
	}
	f := http2.NewFramer(conn, conn)
	f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if err := f.WriteSettings(); err != nil {
		return nil, err
	}
	end := r.BodyBytes == 0 && r.Method != http.MethodConnect
	if err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: encoded(r), EndHeaders: true, EndStream: end}); err != nil {
		return nil, err
	}
	if r.BodyBytes > 0 {
		if err := f.WriteData(1, true, []byte(strings.Repeat("x", r.BodyBytes))); err != nil {
			return nil, err
		}
	}
	return read2(f, r.Method == http.MethodConnect)
}

// encoded is the header block of a request.
func encoded(r *walk.Request) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	write := func(name, value string) { _ = e.WriteField(hpack.HeaderField{Name: name, Value: value}) } // a buffer takes everything
	write(":method", r.Method)
	if r.Authority != nil {
		write(":authority", *r.Authority)
	}
	if r.Path != nil {
		write(":scheme", schemeOf(r))
		write(":path", *r.Path)
	}
	for _, h := range r.All() {
		write(strings.ToLower(h[0]), h[1])
	}
	return b.Bytes()
}

func schemeOf(r *walk.Request) string {
	switch {
	case r.Scheme != "":
		return r.Scheme
	case r.TLS:
		return "https"
	}
	return "http"
}

var errReset = errors.New("the stream was reset")

// read2 reads frames up to the end of the answer, or of its head.
func read2(f *http2.Framer, headOnly bool) (*http.Response, error) {
	response := &http.Response{Header: http.Header{}}
	var body bytes.Buffer
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return nil, err
		}
		ended := false
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				err = f.WriteSettingsAck()
			}
		case *http2.MetaHeadersFrame:
			ended = frame.StreamEnded() || headOnly
			for _, h := range frame.Fields {
				if response.StatusCode >= http.StatusOK && !strings.HasPrefix(frame.Fields[0].Name, ":") {
					break // trailers
				}
				if h.Name == ":status" {
					response.StatusCode, err = strconv.Atoi(h.Value)
				}
				response.Header.Add(h.Name, h.Value)
			}
		case *http2.DataFrame:
			body.Write(frame.Data())
			ended = frame.StreamEnded()
		case *http2.RSTStreamFrame:
			err = errReset
		}
		if err != nil {
			return nil, err
		}
		if ended {
			response.Body = io.NopCloser(&body)
			return response, nil
		}
	}
}
