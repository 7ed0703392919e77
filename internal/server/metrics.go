package server

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	received prometheus.Histogram
	inFlight prometheus.Gauge
	held     prometheus.Gauge
	refused  prometheus.Counter
	panics   prometheus.Counter
}

func newMetrics() *metrics {
	const namespace = "xdslint_server"
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "requests_total", Help: "Requests that were answered; code 499: the client had disconnected.",
		}, []string{"path", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "request_seconds", Help: "Time from the header of a request to its answer.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"path"}),
		received: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Name: "body_bytes", Help: "Sizes of the bodies that were read.",
			Buckets: prometheus.ExponentialBuckets(1<<10, 8, 6),
		}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: namespace, Name: "requests_in_flight", Help: "Requests that have not been answered yet.",
		}),
		held: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: namespace, Name: "held_bytes", Help: "Memory of the bodies and answers in flight.",
		}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Name: "refused_requests_total", Help: "Requests rejected or abandoned because the server was overloaded (429, 503).",
		}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Name: "panics_total", Help: "Panics that were contained. Each is a bug in xdslint.",
		}),
	}
	m.registry.MustRegister(m.requests, m.seconds, m.received, m.inFlight, m.held, m.refused, m.panics,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}
