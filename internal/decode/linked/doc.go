package linked

//go:generate go run generate.go
