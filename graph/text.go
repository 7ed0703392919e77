package graph

import (
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/tree"
)

// Where a resource comes from: its file, its text, and places in both.
type (
	// SourceFile is one input.
	SourceFile = source.File
	// Span is a range of bytes in a file.
	Span = source.Span
	// Position is a place in a file, with a line and a column.
	Position = source.Position
	// Text is the part of a file that a resource was decoded from.
	Text = tree.Text
	// TextNode is a value in a text.
	TextNode = tree.Node
	// Path leads through messages: `virtual_hosts[0].routes[2].route.cluster`. It continues through an Any as if its content were there.
	Path = tree.Path
	// Location is the place in a text that a path leads to.
	Location = tree.Location
)

// How a resource was decoded.
type (
	// Types looks up message types by name.
	Types = decode.Types
	// Contents are the messages in Anys and TypedStructs.
	Contents = decode.Contents
	// Problem is a place where a text does not match its message type.
	Problem = decode.Problem
	// ProblemKind is what is wrong at a problem's place.
	ProblemKind = decode.ProblemKind
)

// The kinds of problems.
const (
	UnknownField = decode.UnknownField
	UnknownEnum  = decode.UnknownEnum
	UnknownType  = decode.UnknownType
	BadAny       = decode.BadAny
	BadValue     = decode.BadValue
	OneofTwice   = decode.OneofTwice
	DuplicateKey = decode.DuplicateKey
	TooDeep      = decode.TooDeep
	Syntax       = decode.Syntax
	Unreadable   = decode.Unreadable
	OldType      = decode.OldType
	BadObject    = decode.BadObject
)
