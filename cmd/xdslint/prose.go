package main

import (
	"strings"
	"unicode/utf8"
)

// textWidth is the width at which prose is wrapped.
const textWidth = 96

// readable lays out the Markdown of rule texts: paragraphs, lists and fenced code.
func readable(markdown string) string {
	var b, paragraph strings.Builder
	flush := func() {
		wrap(&b, paragraph.String())
		paragraph.Reset()
	}
	code := false
	for line := range strings.Lines(markdown) {
		line = strings.TrimRight(line, "\n")
		switch fence := strings.HasPrefix(line, "```"); {
		case fence:
			flush()
			code = !code
		case code:
			b.WriteString("  " + line + "\n")
		case strings.HasPrefix(line, "    "):
			flush()
			b.WriteString(line + "\n")
		case line == "":
			flush()
			b.WriteByte('\n')
		default:
			if strings.HasPrefix(line, "- ") {
				flush()
			}
			paragraph.WriteString(line + "\n")
		}
	}
	flush()
	return b.String()
}

// wrap writes a paragraph, or an item of a list, whose further lines are indented to its text.
func wrap(b *strings.Builder, paragraph string) {
	hang := ""
	if strings.HasPrefix(paragraph, "- ") {
		hang = "  "
	}
	column := 0
	for _, word := range strings.Fields(paragraph) {
		width := utf8.RuneCountInString(word)
		switch {
		case column > 0 && column+1+width > textWidth:
			b.WriteString("\n" + hang)
			column = len(hang)
		case column > 0:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += width
	}
	if column > 0 {
		b.WriteByte('\n')
	}
}
