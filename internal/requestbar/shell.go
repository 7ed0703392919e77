package requestbar

import (
	"errors"
	"strconv"
	"strings"
)

// wordsOf splits a command as a shell does. Nothing is expanded.
func wordsOf(text string) (all []string, err error) {
	s := &shell{rest: text}
	for s.rest != "" {
		if err := s.step(); err != nil {
			return nil, err
		}
	}
	s.end()
	return s.all, nil
}

type shell struct {
	rest string
	word strings.Builder
	some bool // a word has begun
	all  []string
}

func (s *shell) end() {
	if s.some {
		s.all = append(s.all, s.word.String())
	}
	s.word.Reset()
	s.some = false
}

func (s *shell) add(text string) {
	s.some = true
	s.word.WriteString(text)
}

var errOpen = errors.New("a quotation mark of the command is not closed")

// step reads a character, or what is quoted.
func (s *shell) step() error {
	switch c := s.rest[0]; {
	case c == ' ' || c == '\t' || c == '\n':
		s.end()
	case c == '\\' && len(s.rest) > 1:
		if s.rest[1] != '\n' {
			s.add(s.rest[1:2])
		}
		s.rest = s.rest[1:]
	case c == '\'':
		end := strings.IndexByte(s.rest[1:], '\'')
		if end < 0 {
			return errOpen
		}
		s.add(s.rest[1 : 1+end])
		s.rest = s.rest[1+end:]
	case c == '"':
		return s.double()
	case strings.HasPrefix(s.rest, "$'"):
		return s.escaped()
	default:
		s.add(s.rest[:1])
	}
	s.rest = s.rest[1:]
	return nil
}

// double reads "…", in which a backslash quotes a few characters.
func (s *shell) double() error {
	s.add("")
	for i := 1; i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case c == '"':
			s.rest = s.rest[i+1:]
			return nil
		case c == '\\' && i+1 < len(s.rest) && strings.IndexByte("\"\\$`\n", s.rest[i+1]) >= 0:
			if i++; s.rest[i] != '\n' {
				s.add(s.rest[i : i+1])
			}
		default:
			s.add(s.rest[i : i+1])
		}
	}
	return errOpen
}

// escaped reads $'…', in which a backslash begins the code of a character.
func (s *shell) escaped() error {
	s.add("")
	for rest := s.rest[2:]; rest != ""; {
		switch {
		case rest[0] == '\'':
			s.rest = rest[1:]
			return nil
		case strings.HasPrefix(rest, `\'`), strings.HasPrefix(rest, `\"`):
			s.add(rest[1:2])
			rest = rest[2:]
		case rest[0] == '\\':
			c, multibyte, after, err := strconv.UnquoteChar(rest, 0)
			if err != nil {
				return errors.New("the command has an escape that is not one of $'…'")
			}
			if rest = after; multibyte {
				s.add(string(c))
			} else {
				s.add(string([]byte{byte(c)}))
			}
		default:
			s.add(rest[:1])
			rest = rest[1:]
		}
	}
	return errOpen
}
