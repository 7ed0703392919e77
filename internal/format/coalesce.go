package format

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/xdslint/xdslint/dataplane"
)

// coalesce checks the operators of COALESCE, a JSON object of commands of which the first with a value counts
// (CoalesceFormatter::create in source/common/formatter/coalesce_formatter.cc). A value that Envoy's JSON parser may read differently passes.
func coalesce(t dataplane.Target, arguments string) (what, upstream string) {
	if !json.Valid([]byte(arguments)) {
		return "needs a JSON object as its argument", "COALESCE: failed to parse JSON configuration"
	}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &object) != nil || object["operators"] == nil {
		return `needs an object with "operators"`, "COALESCE: JSON configuration must contain 'operators' array"
	}
	var operators []json.RawMessage
	if json.Unmarshal(object["operators"], &operators) != nil || operators == nil {
		return `needs a list of "operators"`, "COALESCE: 'operators' must be an array"
	}
	if len(operators) == 0 {
		return "has an empty list of operators", "COALESCE: 'operators' array must not be empty"
	}
	for i, text := range operators {
		called, what, upstream := operator(text)
		if what == "" {
			var e Error
			if e, _ = checkCommand(t, called, Extensions{}); e.Unknown {
				e.What, e.Upstream = fmt.Sprintf("is not a command of %s", t), fmt.Sprintf("unknown command: '%s'", e.Command)
			}
			what, upstream = e.What, e.Upstream
		}
		if what != "" {
			return fmt.Sprintf("has an operator that %s: %s", what, text), fmt.Sprintf("COALESCE: failed to parse operator at index %d: %s", i, upstream)
		}
	}
	return "", ""
}

// operator reads an operator: the name of a command, or an object with its name, argument and length.
func operator(text json.RawMessage) (c call, what, upstream string) {
	if bytes.HasPrefix(text, []byte(`"`)) && json.Unmarshal(text, &c.name) == nil {
		return c, "", ""
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) != nil || object == nil {
		return c, "is neither the name of a command nor an object with it", "operator entry must be either a string (command name) or an object with 'command' field"
	}
	if json.Unmarshal(object["command"], &c.name) != nil {
		return c, "does not have a command", "operator object must have 'command' field"
	}
	if param, is := object["param"]; is && json.Unmarshal(param, &c.arguments) != nil {
		return c, "has a param that is not a string", "'param' field must be a string"
	}
	if length, is := object["max_length"]; is {
		if n, err := strconv.ParseInt(string(length), 10, 64); err != nil || n <= 0 {
			return c, "has a max_length that is not a positive integer", "'max_length'"
		}
		c.length = string(length)
	}
	return c, "", ""
}
