package requestbar

import (
	"errors"
	"fmt"
	"strings"

	"github.com/xdslint/xdslint/internal/walk"
)

// command is a curl command while it is read.
type command struct {
	*typed
	words  []string // that are left
	url    string
	target string // of the request line
	data   []string
	as     string // the type of the data
	method string
	http   string
	dialed uint32   // the port that --connect-to leads to
	first  []string // names of headers that are not sent
}

// option is what an option of curl does. Those with a value have with.
type option struct {
	do   func(c *command)
	with func(c *command, value string) error
}

// sets returns an option that calls f with its value.
func sets(f func(c *command, value string)) option {
	return option{with: func(c *command, value string) error { f(c, value); return nil }}
}

var (
	idle      = option{do: func(*command) {}}
	idleWith  = sets(func(*command, string) {})
	asHeader  = func(name string) option { return sets(func(c *command, value string) { c.header(name, value) }) }
	sendsData = sets(func(c *command, value string) { c.data = append(c.data, value) })
)

// short are the letters of options.
var short = map[byte]string{
	'X': "request", 'H': "header", 'd': "data", 'u': "user", 'A': "user-agent", 'b': "cookie", 'e': "referer", 'E': "cert", 'o': "output", 'm': "max-time",
	'w': "write-out", 'I': "head", 'i': "include", 'k': "insecure", 's': "silent", 'S': "show-error", 'v': "verbose", 'L': "location", 'f': "fail",
	'g': "globoff", 'N': "no-buffer", '4': "ipv4", '6': "ipv6", '0': "http1.0", 'O': "remote-name",
}

// options are the options of curl that change the request, and those that do not.
var options = map[string]option{
	"request": sets(func(c *command, value string) { c.method = value }),
	"header":  {with: (*command).addHeader},
	"head":    {do: func(c *command) { c.method = "HEAD" }},
	"data":    sendsData, "data-raw": sendsData, "data-ascii": sendsData, "data-binary": sendsData, "data-urlencode": sendsData,
	"json": sets(func(c *command, value string) {
		c.data, c.as = append(c.data, value), "application/json"
		c.header("accept", "application/json")
	}),
	"user":       sets(func(c *command, value string) { c.credentials(value) }),
	"user-agent": asHeader("user-agent"), "cookie": asHeader("cookie"), "referer": asHeader("referer"),
	"compressed":            {do: func(c *command) { c.header("accept-encoding", "deflate, gzip") }},
	"http1.0":               {do: func(c *command) { c.http = "1.0" }},
	"http1.1":               {do: func(c *command) { c.http = "1.1" }},
	"http2":                 {do: func(c *command) { c.http = "2" }},
	"http2-prior-knowledge": {do: func(c *command) { c.http = "2" }},
	"request-target":        sets(func(c *command, value string) { c.target = value }),
	"url":                   {with: (*command).setURL},
	"cert":                  sets(func(c *command, _ string) { c.ClientCert.Presented = true }),
	"connect-to":            {with: (*command).connectTo},
	"haproxy-protocol":      {do: func(c *command) { c.ProxyProtocol = &walk.Proxied{} }},

	"key": idleWith, "cacert": idleWith, "output": idleWith, "max-time": idleWith, "connect-timeout": idleWith, "write-out": idleWith, "resolve": idleWith,
	"interface": idleWith, "retry": idleWith,
	"path-as-is": idle, "include": idle, "insecure": idle, "silent": idle, "show-error": idle, "verbose": idle, "location": idle, "fail": idle, "globoff": idle,
	"no-buffer": idle, "ipv4": idle, "ipv6": idle, "no-progress-meter": idle, "remote-name": idle, "no-alpn": idle,
}

// readCurl reads a curl command. The path is sent as it is written, as with --path-as-is.
func readCurl(text string) (*typed, error) {
	all, err := wordsOf(text)
	if err != nil {
		return nil, err
	}
	c := &command{typed: &typed{}, words: all[1:]}
	for len(c.words) > 0 {
		word := c.words[0]
		c.words = c.words[1:]
		if err := c.word(word); err != nil {
			return nil, err
		}
	}
	return c.typed, c.finish()
}

// word reads an option or the URL.
func (c *command) word(word string) error {
	if name, ok := strings.CutPrefix(word, "--"); ok && name != "" {
		return c.option(name, word, nil)
	}
	if len(word) < 2 || word[0] != '-' {
		return c.setURL(word)
	}
	for i := 1; i < len(word); i++ {
		name := short[word[i]]
		if options[name].with != nil && i+1 < len(word) {
			rest := word[i+1:]
			return c.option(name, word, &rest)
		}
		if err := c.option(name, "-"+word[i:i+1], nil); err != nil {
			return err
		}
	}
	return nil
}

// option applies an option. Its value is the next word if it is not in the same one.
func (c *command) option(name, written string, value *string) error {
	o := options[name]
	switch {
	case o.do != nil:
		o.do(c)
		return nil
	case o.with == nil:
		return fmt.Errorf("the option %s of curl is not known here: remove it", shortened(written))
	case value == nil && len(c.words) == 0:
		return fmt.Errorf("the option %s of curl needs a value", shortened(written))
	case value == nil:
		value, c.words = &c.words[0], c.words[1:]
	}
	return o.with(c, *value)
}

func (c *command) setURL(url string) error {
	if c.url != "" {
		return fmt.Errorf("one request is followed at a time, and %q is a second URL", shortened(url))
	}
	c.url = url
	return nil
}

// addHeader adds a header as curl writes them: NAME: VALUE, NAME; for one without a value, and NAME: for none.
func (c *command) addHeader(text string) error {
	if name, ok := strings.CutSuffix(text, ";"); ok && !strings.Contains(text, ":") {
		c.header(name, "")
		return nil
	}
	name, value, ok := strings.Cut(text, ":")
	if !ok || name == "" {
		return fmt.Errorf("%q is not a header: write NAME: VALUE", shortened(text))
	}
	if value = strings.Trim(value, " \t"); value == "" {
		c.first = append(c.first, strings.ToLower(name))
		return nil
	}
	c.header(name, value)
	return nil
}

// connectTo reads HOST:PORT:HOST:PORT. Only the last port matters, by which the listener is chosen.
func (c *command) connectTo(text string) (err error) {
	_, c.dialed, err = hostAndPort(text)
	return err
}

// finish makes the request of the options.
func (c *command) finish() error {
	if c.url == "" {
		return errors.New("the curl command does not have a URL")
	}
	named := c.Authority
	if err := c.typed.url(c.url); err != nil {
		return err
	}
	if named != nil {
		c.Authority = named
	}
	if c.dialed != 0 {
		c.port = c.dialed
	}
	for _, name := range c.first {
		if name == "host" {
			c.Authority = nil
		}
	}
	c.Method, c.HTTP = "GET", c.http
	if len(c.data) > 0 {
		c.Method = "POST"
		c.body()
	}
	if c.method != "" {
		c.Method = c.method
	}
	if c.TLS {
		c.ALPN = map[string][]string{"1.0": {"http/1.0"}, "1.1": {"http/1.1"}, "2": {"h2", "http/1.1"}}[c.http]
	}
	switch {
	case c.Method == "CONNECT":
		c.Path = nil
		if c.target != "" {
			c.Authority = &c.target
		}
	case c.target != "":
		c.Path = &c.target
	}
	return nil
}

// body notes the data.
func (c *command) body() {
	c.BodyBytes = len(strings.Join(c.data, "&"))
	for _, h := range c.Headers {
		if strings.EqualFold(h[0], "content-type") {
			return
		}
	}
	if c.as == "" {
		c.as = "application/x-www-form-urlencoded"
	}
	c.header("content-type", c.as)
}
