package graph

import (
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/tree"
)

// Where a resource comes from: the file, what it says, and where.
type (
	// SourceFile is one input.
	SourceFile = source.File
	// Span is a range of bytes in a file.
	Span = source.Span
	// Position is a place in a file as people count it.
	Position = source.Position
	// TextNode is a value in a text.
	TextNode = tree.Node
	// Path leads through messages: `virtual_hosts[0].routes[2].route.cluster`, on through an Any as if its content stood there.
	Path = tree.Path
	// Location is where a path leads in a text.
	Location = tree.Location
)

// How a resource was decoded.
type (
	// Types finds message types by their names.
	Types = decode.Types
	// Contents are the messages in Anys and TypedStructs.
	Contents = decode.Contents
	// Problem is one place where a text is not a message of its type.
	Problem = decode.Problem
	// ProblemKind says what is wrong there.
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
