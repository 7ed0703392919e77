package recording

import (
	"encoding/json"
	"time"

	"github.com/xdslint/xdslint/internal/history"
)

// Line is one line of a part.
type Line struct {
	Recording  *history.Header `json:"recording,omitempty"`
	Time       time.Time       `json:"time,omitzero"`
	Stream     int             `json:"stream,omitempty"`
	Opened     *Opened         `json:"opened,omitempty"`
	Request    json.RawMessage `json:"request,omitempty"`
	Response   json.RawMessage `json:"response,omitempty"`
	Closed     *Closed         `json:"closed,omitempty"`
	LeftOut    []int           `json:"left_out,omitempty"`
	Unreadable string          `json:"unreadable,omitempty"` // why a message is not recorded
	// NotModified: the answer to a poll is that the client has the newest version.
	NotModified bool `json:"not_modified,omitempty"`
}

// Opened says that a stream is opened.
type Opened struct {
	Method string `json:"method"`
}

// Closed says that a stream is closed.
type Closed struct {
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
}
