package plugin

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/config"
	envoytypes "github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/pluginabi"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

// understand turns a Description into rules.
func (p *Plugin) understand(raw []byte, origin *lint.Origin) error {
	d := &pluginabi.Description{}
	if err := unmarshal(raw, d); err != nil {
		return fmt.Errorf("describes itself with %w", err)
	}
	if len(d.GetRules()) == 0 {
		return errors.New("has no rules")
	}
	if len(d.GetRules()) > MaxRules {
		return fmt.Errorf("has %d rules; the limit is %d", len(d.GetRules()), MaxRules)
	}
	check := lint.ForOrigin(func() lint.Judge { return p.check })
	seen := map[string]bool{}
	for _, described := range d.GetRules() {
		rule, err := ruleOf(described)
		if err != nil {
			return err
		}
		if seen[rule.ID()] {
			return fmt.Errorf("has two rules %s", rule.ID())
		}
		seen[rule.ID()] = true
		rule.Origin, rule.Run = origin, check
		p.rules = append(p.rules, rule)
	}
	p.types = map[string]bool{}
	for _, name := range d.GetTypes() {
		if _, err := p.options.Types.FindMessageByName(protoreflect.FullName(name)); err != nil {
			return fmt.Errorf("wants to read messages of type %s, which xdslint does not know%s", quoted(name), similar(name))
		}
		p.types[name] = true
	}
	return nil
}

func ruleOf(d *pluginabi.Rule) (*lint.Rule, error) {
	group, name, err := config.ParseID(d.GetId(), nil)
	if err != nil || len(d.GetId()) > maxName {
		return nil, fmt.Errorf("has a rule %s: an id is GROUP/NAME in lower-case letters, digits and hyphens, such as acme/cluster-name", quoted(d.GetId()))
	}
	summary := words.Line(d.GetSummary())
	if summary == "" {
		return nil, fmt.Errorf("has a rule %s without a summary", d.GetId())
	}
	severity, ok := severities[d.GetSeverity()]
	if !ok {
		return nil, fmt.Errorf("has a rule %s with the unknown severity %d", d.GetId(), d.GetSeverity())
	}
	if severity == 0 {
		severity = lint.Error
	}
	rule := &lint.Rule{Group: group, Name: name, Severity: severity, Summary: summary, Why: words.Printable(d.GetWhy()[:min(len(d.GetWhy()), maxWhy)])}
	for _, link := range d.GetLinks() {
		rule.Links = append(rule.Links, words.Line(link))
	}
	return rule, nil
}

// severities by their numbers in the interface; 0: the default.
var severities = map[pluginabi.Severity]lint.Severity{
	pluginabi.Severity_SEVERITY_UNSPECIFIED: 0,
	pluginabi.Severity_SEVERITY_INFO:        lint.Info,
	pluginabi.Severity_SEVERITY_WARNING:     lint.Warning,
	pluginabi.Severity_SEVERITY_ERROR:       lint.Error,
}

// similar suggests a type with a similar name.
func similar(name string) string {
	var names []string
	envoytypes.Each(func(name, _ protoreflect.FullName) { names = append(names, string(name)) })
	if len(name) < maxName {
		if near := lint.Nearest(name, names); near != "" {
			return fmt.Sprintf(" (did you mean %s?)", near)
		}
	}
	return ""
}
