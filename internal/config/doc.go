// Package config reads .xdslint.yaml, the configuration that a team's runs share.
//
// [Find] looks for the file, [Read] reads it, and [Parse] and [ParseLenient] do so for a text. Package strict fills a
// [Config] from the tree of the text, and rejects unknown keys. check validates the values and drops invalid ones: each
// becomes a [Fault] with its place, and ParseLenient returns what is left, for the playground. Selectors, kinds and
// globs are checked with the same functions as those of flags (CheckSelector, ParseKind, parseAssumed).
//
// Custom rules come from a [RuleSource], which gets the configuration and returns rules and faults. So this package
// knows neither CEL nor WebAssembly, and a program that does not need them does not link them. [Join] combines sources.
// Custom rules are added before the values are checked, because severities and ignores can name them. Their ids must
// not be in a group of built-in rules, and two rules must not have the same id.
package config
