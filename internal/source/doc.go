// Package source holds the text that findings point into: files, byte spans, and their lines and columns.
//
// Everything works with byte offsets ([Span]); a zero Span points nowhere. Lines and columns are counted only when
// something is shown: File.Position makes the index of lines on the first call. Columns are in runes.
//
// A minified file is one long line, and counting its runes from the beginning for each finding takes quadratic time. So
// a file also remembers the number of runes up to a mark in each block of 4 KiB.
//
// A [File] without Text is binary or live input: findings in it have paths, but no position.
package source
