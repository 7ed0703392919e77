package server

import (
	"fmt"
	"net/http"
)

// problem is an error answer (RFC 9457).
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"` // the status in words
	Status int    `json:"status"`
	Detail string `json:"detail"` // what is wrong with this request

	header http.Header
	quotes bool // the detail may quote the request, and so a secret: it must not be logged
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

// quoting returns the problem of an error that may quote the request.
func quoting(err error) *problem {
	p := newProblem(http.StatusBadRequest, "%s", err)
	p.quotes = true
	return p
}

func (p *problem) with(header, value string) *problem {
	p.header.Set(header, value)
	return p
}

// statusGone is nginx's status for a client that has disconnected, used only in logs and metrics.
const statusGone = 499

// retryAfter is the number of seconds that a rejected client should wait.
const retryAfter = "1"

var errBroken = newProblem(http.StatusInternalServerError, "internal error: this is a bug in xdslint; its log has the details")
