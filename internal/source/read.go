package source

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// MaxSize limits the size of one file, in bytes. A text of this size takes about ten times as much memory.
const MaxSize = 256 << 20

// Open opens a file. Without a writer, opening a pipe would wait for ever; reading it waits only while there is one.
func Open(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDONLY|nonblock, 0) }

// ReadFile is os.ReadFile for files that may be pipes and may not end.
func ReadFile(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, &os.PathError{Op: "read", Path: path, Err: errors.New("this is a folder")}
	}
	text, err := Read(f, info.Size())
	if errors.As(err, new(tooLarge)) {
		return nil, &os.PathError{Op: "read", Path: path, Err: err}
	}
	return text, err
}

// Read reads all of r, up to MaxSize. Size is the size that r reports, or 0.
func Read(r io.Reader, size int64) ([]byte, error) {
	if size > MaxSize {
		return nil, tooLarge(fmt.Sprintf("%d MiB", size>>20))
	}
	var pieces [][]byte
	room := size + 1 // finds the end
	for total := int64(0); ; room = pieceSize {
		piece := make([]byte, room)
		n, err := io.ReadFull(r, piece)
		pieces = append(pieces, piece[:n])
		total += int64(n)
		switch {
		case total > MaxSize:
			return nil, tooLarge("more")
		case (err == io.EOF || err == io.ErrUnexpectedEOF) && len(pieces) == 1:
			return pieces[0], nil
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return slices.Concat(pieces...), nil
		case err != nil:
			return nil, err
		}
	}
}

// pieceSize is how much is read at once if the size is not known. A buffer that grows would take several times the limit.
const pieceSize = 1 << 20

// tooLarge says how large a file is.
type tooLarge string

func (size tooLarge) Error() string {
	return fmt.Sprintf("the file is too large: the limit is %d MiB, this is %s", MaxSize>>20, string(size))
}
