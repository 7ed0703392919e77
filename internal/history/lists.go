package history

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Lists are long lists of names, each of which is read once: over SotW, each ACK has all names.
type Lists struct{ known []list }

type list struct {
	text  []byte
	names []string
}

const (
	listField = `"resource_names":`
	longList  = 1000 // bytes; reading less is cheap
	mostLists = 8    // of streams and types that are read in turn
	cut       = `["\u0000"]`
)

// Cut returns an event without its names, if one before it had the same, and these names. Nil: it is to be read as it is.
// It is right if IsCut holds for what is read in their place: another field can have the same name.
func (l *Lists) Cut(event []byte) (short []byte, names []string) {
	before, after, ok := bytes.Cut(event, []byte(listField))
	if !ok || len(after) < longList {
		return nil, nil
	}
	for _, known := range l.known {
		if rest, same := bytes.CutPrefix(after, known.text); same {
			return slices.Concat(before, []byte(listField), []byte(cut), rest), known.names
		}
	}
	return nil, nil
}

// IsCut reports whether names were read in the place of those that Cut has returned.
func IsCut(names []string) bool { return len(names) == 1 && names[0] == "\x00" }

// Keep takes the names of an event that was read as it is.
func (l *Lists) Keep(event []byte, names []string) {
	_, after, ok := bytes.Cut(event, []byte(listField))
	var text json.RawMessage
	if !ok || len(names) == 0 || len(after) < longList || json.NewDecoder(bytes.NewReader(after)).Decode(&text) != nil || len(text) < longList {
		return
	}
	l.known = append(l.known[max(0, len(l.known)+1-mostLists):], list{text, names})
}
