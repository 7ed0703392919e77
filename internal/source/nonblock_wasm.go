package source

const nonblock = 0 // it has files only
