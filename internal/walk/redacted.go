package walk

import "github.com/xdslint/xdslint/internal/redact"

// Redacted returns the answer without secrets of the configuration.
func (a *Answer) Redacted() *Answer {
	b := *a
	b.Added, b.ResponseAdded = hidden(a.Added), hidden(a.ResponseAdded)
	b.Path, b.Host = redact.Looks(a.Path), redact.Looks(a.Host)
	for _, text := range []**string{&b.Location, &b.Body} {
		if *text != nil {
			shown := redact.Looks(**text)
			*text = &shown
		}
	}
	b.Weighted = nil
	for name, share := range a.Weighted {
		if b.Weighted == nil {
			b.Weighted = map[string]*Share{}
		}
		b.Weighted[name] = &Share{Share: share.Share, Host: redact.Looks(share.Host), Added: hidden(share.Added)}
	}
	return &b
}

func hidden(headers map[string][]string) map[string][]string {
	if headers == nil {
		return nil
	}
	all := make(map[string][]string, len(headers))
	for name, values := range headers {
		for _, value := range values {
			if redact.Credential(name) {
				value = redact.InReports
			}
			all[name] = append(all[name], redact.Looks(value))
		}
	}
	return all
}
