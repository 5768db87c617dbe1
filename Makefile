# mcphost: `make run` builds and serves config.hcl, `make test` tests everything.
# Tools are built into .tools/ from their own modules under tools/, and whatever
# else a target needs is put into .cache/; nothing is installed elsewhere.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build

GO      ?= go
TOOLS   := $(CURDIR)/.tools
PLUGINS := $(patsubst plugins/%/main.go,%,$(wildcard plugins/*/main.go))
GOFILES := git ls-files --cached --others --exclude-standard -- '*.go' ':!*.pb.go'

.PHONY: build
build: ## mcphost and its plugins, into bin/
	@mkdir -p bin
	$(GO) build -o bin/mcphost ./cmd/mcphost
	@for p in $(PLUGINS); do echo "$(GO) build -o bin/plugin-$$p ./plugins/$$p"; $(GO) build -o "bin/plugin-$$p" "./plugins/$$p"; done

.PHONY: run
run: build ## build, then serve config.hcl until Ctrl-C
	bin/mcphost serve -c config.hcl

.PHONY: test
test: build ## all tests, with the race detector
	$(GO) test -race -timeout 12m ./...

.PHONY: test-python
test-python: build ## the Python SDK and the example that uses it
	sdk/python/test.sh

.PHONY: lint
lint: $(TOOLS)/golangci-lint $(TOOLS)/buf ## everything that finds fault without running
	@unformatted=$$($(GOFILES) | xargs -r gofmt -l); \
	if [ -n "$$unformatted" ]; then echo "not formatted (make fmt):" >&2; echo "$$unformatted" >&2; exit 1; fi
	$(GO) vet ./...
	$(GO) mod tidy -diff
	GOLANGCI_LINT_CACHE=$(CURDIR)/.cache/golangci-lint $(TOOLS)/golangci-lint run --allow-parallel-runners --timeout 15m ./...
	$(TOOLS)/buf lint

.PHONY: fmt
fmt: $(TOOLS)/golangci-lint $(TOOLS)/buf ## format Go and the contract
	$(TOOLS)/golangci-lint fmt ./...
	$(TOOLS)/buf format -w

PROTO_TOOLS := $(TOOLS)/buf $(TOOLS)/protoc-gen-go $(TOOLS)/protoc-gen-go-grpc

.PHONY: proto
proto: $(PROTO_TOOLS) ## generate Go from the contract
	$(TOOLS)/buf generate

.PHONY: proto-check
proto-check: $(PROTO_TOOLS) ## fail when the committed Go is not what the contract gives
	@rm -rf .cache/proto && mkdir -p .cache/proto
	$(TOOLS)/buf generate -o .cache/proto
	@cd .cache/proto/proto && find . -name '*.pb.go' | sort > ../generated
	@cd proto && find . -name '*.pb.go' | sort | diff -u - ../.cache/proto/generated
	@while read -r f; do diff -u "proto/$$f" ".cache/proto/proto/$$f" || { echo "run make proto" >&2; exit 1; }; done < .cache/proto/generated

.PHONY: test-typescript
test-typescript: build ## the TypeScript SDK and its example, behind this mcphost
	sdk/typescript/test.sh

.PHONY: conformance
conformance: build ## the official MCP suite against one mcphost
	$(GO) run ./test/conformance

CHAOSTIME ?= 10m

.PHONY: chaos
chaos: ## have something bad happen to plugins every second, for CHAOSTIME; see docs/chaos.md
	$(GO) test -count=1 -timeout 60m -v -run '^Test(Chaos|Restart|GoroutinesEnd)$$' ./test/chaos -for $(CHAOSTIME)

FUZZTIME ?= 60s

.PHONY: fuzz
fuzz: ## each fuzz target for FUZZTIME
	@grep -rlE --include='*_test.go' --exclude-dir=.cache '^func Fuzz[A-Z]' . | xargs -rn1 dirname | sort -u | while read -r dir; do \
		grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$$dir"/*_test.go | cut -d' ' -f2 | sort -u | while read -r target; do \
			echo "== $$dir $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5s "$$dir" < /dev/null; \
		done; \
	done

.PHONY: clean
clean: ## remove what make made, but for the tools
	rm -rf bin .cache

.PHONY: help
help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

# Tools, each pinned by a module of its own, so that its dependencies never enter go.mod.

$(TOOLS)/buf: tools/buf/go.sum
	cd tools/buf && GOBIN=$(TOOLS) $(GO) install tool
	@touch $@

$(TOOLS)/golangci-lint: tools/golangci-lint/go.sum
	cd tools/golangci-lint && GOBIN=$(TOOLS) $(GO) install tool
	@touch $@

$(TOOLS)/protoc-gen-go $(TOOLS)/protoc-gen-go-grpc &: tools/protoc/go.sum
	cd tools/protoc && GOBIN=$(TOOLS) $(GO) install tool
	@touch $(TOOLS)/protoc-gen-go $(TOOLS)/protoc-gen-go-grpc
