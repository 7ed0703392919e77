//go:build engine

package boringssl

// The smaller engine of the playground links no cryptography: there, passwords are not tried.

func (*locked) open([]byte) (plain []byte, known bool) { return nil, false }

func (*locked) verifies([]byte) (right, known bool) { return false, false }
