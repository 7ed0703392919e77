package admission

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics do not have a label for the node: a control plane can have thousands of nodes.
type metrics struct {
	snapshots *prometheus.CounterVec
	errors    *prometheus.CounterVec
	withheld  *prometheus.CounterVec
	late      prometheus.Counter
	failures  *prometheus.CounterVec
	seconds   prometheus.Histogram
}

func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "xdslint", Subsystem: "gate", Name: name, Help: help}, labels)
	}
	m := &metrics{
		snapshots: counter("snapshots_total", "Snapshots that were judged, by outcome: admitted, observed, quarantined, blocked.", "outcome"),
		errors:    counter("new_errors_total", "Errors in snapshots that the node did not have before, by rule.", "rule"),
		withheld:  counter("withheld_resources_total", "Resources that were withheld from quarantined snapshots, by kind.", "kind"),
		failures:  counter("rule_failures_total", "Panics while judging, by rule; \"other\" is a panic outside of rules.", "rule"),
		late: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: "xdslint", Subsystem: "gate", Name: "deadline_exceeded_total", Help: "Snapshots that were not, or not completely, judged in time.",
		}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "xdslint", Subsystem: "gate", Name: "judge_seconds", Help: "Time to judge a snapshot, in seconds.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}),
	}
	for _, outcome := range []Outcome{Admitted, Observed, Quarantined, Blocked} { // so that rates begin at 0
		m.snapshots.WithLabelValues(string(outcome))
	}
	if registerer == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.snapshots, m.errors, m.withheld, m.late, m.failures, m.seconds} {
		if err := registerer.Register(c); err != nil {
			return nil, fmt.Errorf("admission.Options.Metrics: %w", err)
		}
	}
	return m, nil
}

func (m *metrics) observe(took time.Duration) { m.seconds.Observe(took.Seconds()) }

func (m *metrics) count(d *Decision) {
	m.snapshots.WithLabelValues(string(d.Outcome)).Inc()
	for i := range d.New {
		m.errors.WithLabelValues(d.New[i].Rule.ID()).Inc()
	}
	for _, w := range d.Withheld {
		m.withheld.WithLabelValues(string(w.Kind)).Inc()
	}
	for _, f := range d.Failures {
		m.failures.WithLabelValues(f.Rule.ID()).Inc()
	}
	if d.Err != nil {
		m.failures.WithLabelValues("other").Inc()
	}
	if d.TimedOut {
		m.late.Inc()
	}
}
