package pod

import (
	"path"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/kube"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "config-not-watched",
	Severity: lint.Warning,
	Summary:  "a ConfigMap with resources changes, and Envoy does not see it",
	Links: []string{
		configMapDocs,
		"FilesystemSubscriptionImpl (source/extensions/config_subscription/filesystem/filesystem_subscription_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/operations/runtime#updating-runtime-values-via-symbolic-link-swap",
	},
	Run: each(func(p *lint.Pass, w workload) {
		if w.rolled() {
			return
		}
		eachSource(p, func(at lint.At, source *corev3.PathConfigSource) {
			m, ok := w.Mount(source.GetPath())
			if !ok || !w.changes(m) {
				return
			}
			folder := m.At.Field("mountPath").Text()
			switch watched := source.GetWatchedDirectory().GetPath(); {
			case m.Single():
				p.Report(at.Field("path"), lint.Diagnostic{
					Severity: severityOf(p, at),
					Message:  "this file is never updated",
					Notes:    []string{"a volume that is mounted with subPath keeps what it had when the container started"},
					Help:     "mount the whole volume in a folder of its own, without subPath, and name that folder as the watched_directory",
					Related:  w.related(m.At.Field("subPath"), "the mount"),
				})
			case watched == "":
				p.Report(at.Field("path"), unseen(w, m, lint.Diagnostic{
					Severity: severityOf(p, at),
					Message:  "Envoy reads this file once, and never sees that Kubernetes updates it",
					Notes:    []string{"the kubelet replaces a link to the folder of all files; without a watched_directory, Envoy only sees a file that is itself replaced"},
					Help:     "add watched_directory: {path: " + folder + "}",
					Fixes:    lint.Insert(at, "watched_directory", lint.Fields{{Name: "path", Value: folder}}).Likely("watch the directory of the mount"),
				}))
			case path.Clean(watched) != path.Clean(folder):
				p.Report(at.Field("watched_directory", "path"), unseen(w, m, lint.Diagnostic{
					Severity: severityOf(p, at),
					Message:  "Envoy does not see here that Kubernetes updates the file",
					Notes:    []string{"the kubelet replaces a link in the directory of the mount, " + folder + ", and nothing in other directories"},
					Help:     "watch " + folder,
					Fixes:    lint.Replace(at.Field("watched_directory", "path"), folder).Likely("watch the directory of the mount"),
				}))
			}
		})
	}),
})

// severityOf returns the severity for a source. That of a secret whose certificates are in files hardly ever changes: Envoy watches those files itself.
func severityOf(p *lint.Pass, at lint.At) lint.Severity {
	sds, where := graph.Around[*tlsv3.SdsSecretConfig](at.Place)
	if where == nil {
		return lint.Warning
	}
	if r := p.Snapshot.Pushed(graph.Secret, sds.GetName()); r != nil {
		secret, _ := r.Message.(*tlsv3.Secret)
		if inline(secret.GetTlsCertificate().GetPrivateKey()) || inline(secret.GetValidationContext().GetTrustedCa()) {
			return lint.Warning
		}
	}
	return lint.Info
}

func inline(s *corev3.DataSource) bool { return s != nil && s.GetFilename() == "" }

func unseen(w workload, m kube.Mount, d lint.Diagnostic) lint.Diagnostic {
	d.Related = w.related(m.At.Field("mountPath"), "the mount")
	return d
}
