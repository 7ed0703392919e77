package config

import (
	"fmt"
	"strconv"
	"time"

	"github.com/xdslint/xdslint/lint"
)

// defaultExpiryDays is how early a certificate is reported that is going to expire.
const defaultExpiryDays = 14

// Clock returns the date of the configuration, or the zero Clock if it has none.
func (s *Config) Clock() lint.Clock {
	var c lint.Clock
	c.Now, _ = ParseDate(s.Now) // both were checked
	c.Days, _ = parseDays(s.ExpiryDays)
	return c
}

func parseDays(text string) (int, error) {
	if text == "" {
		return defaultExpiryDays, nil
	}
	days, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number of days", text)
	}
	return int(days), nil
}

// ParseDate reads a date, such as 2027-01-31. That of an empty text is zero.
func ParseDate(text string) (t time.Time, err error) {
	if text == "" {
		return t, nil
	}
	if t, err = time.Parse(time.DateOnly, text); err != nil {
		return t, fmt.Errorf("%q is not a date such as 2027-01-31", text)
	}
	return t, nil
}
