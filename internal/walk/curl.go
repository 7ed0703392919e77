package walk

import (
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/xdslint/xdslint/internal/ascii"
)

// ownHeaders are those that curl sends by itself.
var ownHeaders = []string{"accept", "user-agent"}

// Curl returns the command that sends a request to a listener at an address. Of the headers that curl sends by itself, it removes those that a matcher
// asks about.
func (r *Request) Curl(address string, asked ...string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		address = net.JoinHostPort("127.0.0.1", port)
	}
	c := curl{"curl", "-i"}
	c.add(r.Path != nil, "--path-as-is", "")
	c.add(r.HTTP == "1.0", "--http1.0", "")
	c.add(r.HTTP == "2" && !r.TLS, "--http2-prior-knowledge", "")
	c.add(r.ProxyProtocol != nil, "--haproxy-protocol", "")
	c.add(r.TLS, "-k", "")
	c.add(r.TLS && r.HTTP != "2" && len(r.ALPN) == 0, "--no-alpn", "")
	c.add(r.TLS && r.HTTP == "" && len(r.ALPN) > 0 && !slices.Contains(r.ALPN, "h2"), "--http1.1", "")
	if r.ClientCert.Presented {
		c.add(true, "--cert", "client.crt")
		c.add(true, "--key", "client.key")
	}
	c.add(r.Method == "HEAD", "--head", "")
	c.add(r.Method != "HEAD" && (r.Method != "GET" || r.BodyBytes > 0), "-X", r.Method)
	name := ""
	if r.Authority != nil {
		name = *r.Authority
	}
	c.add(r.TLS && r.SNI != "", "--connect-to", "::"+address)
	c.add(r.Authority == nil, "-H", "host:")
	c.add(r.Authority != nil, "-H", "host: "+name)
	for _, h := range r.Headers {
		text := h[0] + ": " + h[1]
		if h[1] == "" {
			text = h[0] + ";" // curl removes a header without a value
		}
		c.add(true, "-H", text)
	}
	for _, name := range ownHeaders {
		has := slices.ContainsFunc(r.Headers, func(h Header) bool { return ascii.Lower(h[0]) == name })
		c.add(!has && slices.Contains(asked, name), "-H", name+":")
	}
	c.add(r.BodyBytes > 0, "--data-binary", strings.Repeat("x", min(r.BodyBytes, 1000)))
	url := "http://" + address
	switch {
	case r.TLS && r.SNI != "":
		url = "https://" + r.SNI
	case r.TLS:
		url = "https://" + address
	}
	switch {
	case r.Path == nil:
		c.add(true, "--request-target", name)
	case strings.HasPrefix(*r.Path, "/") && strings.Trim(*r.Path, plain+"?=&;%~@!$()*+,") == "":
		url += *r.Path
	default:
		c.add(true, "--request-target", *r.Path)
	}
	return strings.Join(append(c, quoted(url)), " ")
}

type curl []string

// add adds an option, with its value if there is one.
func (c *curl) add(applies bool, option, value string) {
	if !applies {
		return
	}
	*c = append(*c, option)
	if value != "" {
		*c = append(*c, quoted(value))
	}
}

// plain are characters that mean nothing in a shell.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/.:-_"

// quoted returns a word of a shell.
func quoted(text string) string {
	if strings.Trim(text, plain) == "" {
		return text
	}
	for _, c := range text {
		if c < ' ' || c > '~' {
			return "$'" + strings.Trim(strings.ReplaceAll(strconv.QuoteToASCII(text), "'", `\'`), `"`) + "'"
		}
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
