package server

import (
	"fmt"
	"net/http"
)

// problem is an answer that is no result, as RFC 9457 has it.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"` // the status in words
	Status int    `json:"status"`
	Detail string `json:"detail"` // what is wrong with this request

	header http.Header
	quotes bool // the detail may quote the request, and so a secret: it is no matter for a log
}

func (p *problem) Error() string { return p.Detail }

func newProblem(status int, detail string, args ...any) *problem {
	if len(args) > 0 {
		detail = fmt.Sprintf(detail, args...)
	}
	title := http.StatusText(status)
	if status == statusGone {
		title = "Client Closed Request"
	}
	return &problem{Type: "about:blank", Title: title, Status: status, Detail: detail, header: http.Header{}}
}

// quoting is the problem of an error that may quote the request.
func quoting(err error) *problem {
	p := newProblem(http.StatusBadRequest, "%s", err)
	p.quotes = true
	return p
}

func (p *problem) with(header, value string) *problem {
	p.header.Set(header, value)
	return p
}

// statusGone is nginx's, for logs and metrics alone: the client does not wait for an answer any more.
const statusGone = 499

// retryAfter is how many seconds a client that is turned away should wait.
const retryAfter = "1"

var errBroken = newProblem(http.StatusInternalServerError, "a bug of xdslint; its log says more")
