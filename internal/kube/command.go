package kube

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// Word is a word of a command line, and where it is written.
type Word struct {
	Text string
	At   Value
}

// Command is the command line of Envoy in a container.
type Command struct {
	words []Word // after the name of the program
	envoy bool   // it is certain that the program is Envoy
}

// defaultConfig is what Envoy's images start it with if a container has no args.
const defaultConfig = "/etc/envoy/envoy.yaml"

var shells = []string{"sh", "bash", "ash", "dash"}

// Command returns the command line of Envoy. ok is false if the container starts something else.
func (c Container) Command() (line Command, ok bool) {
	var words []Word
	for _, field := range []string{"command", "args"} {
		for at := range c.Field(field).Items() {
			words = append(words, Word{at.Text(), at})
		}
	}
	if script, is := script(words); is {
		words = script
	}
	if i := slices.IndexFunc(words, Word.isEnvoy); i >= 0 {
		return Command{split(words[i+1:]), true}, true
	}
	_, image := c.Image()
	switch {
	case c.Field("command").Exists():
		return Command{}, false
	case image && len(words) == 0:
		return Command{[]Word{{"-c", c.Field("image")}, {defaultConfig, c.Field("image")}}, true}, true
	case image && !strings.HasPrefix(words[0].Text, "-"):
		return Command{}, false
	}
	return Command{split(words), image}, true
}

func (w Word) isEnvoy() bool { return path.Base(w.Text) == "envoy" }

// Certain reports whether the program certainly is Envoy. Otherwise the image has another name, and starts it with these words if it does.
func (c Command) Certain() bool { return c.envoy }

// split splits words in which a list has a flag and its value in one element. Envoy accepts that.
func split(words []Word) (all []Word) {
	for _, w := range words {
		flag, value, two := strings.Cut(w.Text, " ")
		if !two || !strings.HasPrefix(flag, "-") {
			all = append(all, w)
			continue
		}
		all = append(all, Word{flag, w.At}, Word{value, w.At})
	}
	return all
}

// script returns the words of the shell command that starts Envoy, if the words run a shell.
func script(words []Word) (inner []Word, ok bool) {
	if len(words) < 3 || !slices.Contains(shells, path.Base(words[0].Text)) {
		return nil, false
	}
	i := slices.IndexFunc(words, func(w Word) bool { return strings.HasPrefix(w.Text, "-") && strings.HasSuffix(w.Text, "c") })
	if i < 0 || i+1 >= len(words) {
		return nil, false
	}
	for _, command := range commands(words[i+1].Text) {
		if j := slices.IndexFunc(command, func(text string) bool { return path.Base(text) == "envoy" }); j >= 0 {
			for _, text := range command[j:] {
				inner = append(inner, Word{text, words[i+1].At})
			}
			return inner, true
		}
	}
	return nil, true
}

// commands splits a shell script into commands, and these into words. It knows quotes, comments and continued lines.
func commands(text string) (all [][]string) {
	text = strings.ReplaceAll(text, "\\\n", " ")
	var words []string
	var word strings.Builder
	var quote byte
	open := false
	end := func(command bool) {
		if open {
			words = append(words, word.String())
			word.Reset()
			open = false
		}
		if command && len(words) > 0 {
			all, words = append(all, words), nil
		}
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, open = c, true
		case c == ' ' || c == '\t':
			end(false)
		case c == '\n' || c == ';' || c == '|' || c == '&' || c == '(' || c == ')':
			end(true)
		case c == '#' && !open:
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		default:
			word.WriteByte(c)
			open = true
		}
	}
	end(true)
	return all
}

// Has reports whether a flag without a value is set.
func (c Command) Has(flag string) bool {
	return slices.ContainsFunc(c.words, func(w Word) bool { return w.Text == flag })
}

// Flag returns the value of a flag, by any of its names. known is false if a variable in the value is replaced when the container starts.
func (c Command) Flag(names ...string) (value Word, set, known bool) {
	for i, w := range c.words {
		if slices.Contains(names, w.Text) && i+1 < len(c.words) {
			value = c.words[i+1]
			return value, true, fixed(value.Text)
		}
	}
	return Word{}, false, true
}

// Config returns the path of the bootstrap. ok is false if it is not known.
func (c Command) Config() (path string, ok bool) {
	value, set, known := c.Flag("-c", "--config-path")
	return value.Text, set && known
}

// Number returns the value of a flag with a whole number. set is false if the flag is not set, or the number is not known.
func (c Command) Number(flag string) (n int, at Value, set bool) {
	value, set, known := c.Flag(flag)
	n, err := strconv.Atoi(value.Text)
	return n, value.At, set && known && err == nil
}
