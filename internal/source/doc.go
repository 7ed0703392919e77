// Package source holds the text that findings point into: files, byte spans, and their lines and columns.
//
// Everything works with byte offsets ([Span]); a zero Span points nowhere. Lines and columns are counted only when
// something is shown: File.Position makes an index on the first call. Columns are in runes, or in UTF-16 code units.
//
// A minified file is one long line, and a sparse file nothing but lines: counting from the beginning for each finding
// takes quadratic time, and a list of lines more memory than the text. So the index is a mark in each block of 512
// bytes, with what has been counted up to there.
//
// A [File] without Text is binary or live input: findings in it have paths, but no position.
package source
