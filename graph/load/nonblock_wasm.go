package load

const nonblock = 0 // it has files only
