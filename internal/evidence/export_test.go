package evidence

import "time"

// Hurry lets lines wait only shortly, for evidence that does not hold.
func (e *Evidence) Hurry() { e.patience = 100 * time.Millisecond }
