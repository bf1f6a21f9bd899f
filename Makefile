# `make help` says what there is. Nothing has to be set up before: each target
# fetches or builds the tools that it needs, outside of the clone.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

CARGO ?= cargo
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
FUNCTION := $(TARGET_DIR)/release/expose-valkey
VERSION := $(shell sed -n 's/^version = "\(.*\)"$$/\1/p' Cargo.toml | head -n 1)
IMAGE ?= ghcr.io/expose-valkey/expose-valkey:v$(VERSION)
CONTROLLER_IMAGE ?= ghcr.io/expose-valkey/expose-valkey-controller:v$(VERSION)

# Targets that lie in files of their own.
-include Makefile.pipelines Makefile.node

# Crates that a function from text to text has no use for.
UNWANTED := tokio|hyper|kube-client

.PHONY: help
help: ## Print what each target does
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)$$/\1\t\2/p' $(MAKEFILE_LIST) | while IFS=$$'\t' read -r name text; do printf '%-16s%s\n' "$$name" "$$text"; done

.PHONY: build
build: ## Build the function
	$(CARGO) build --locked --release

.PHONY: demo
demo: build ## Build the function and run it on an example: the objects, then the table of ports
	@echo '$$ expose-valkey render -f examples/gateway/base'
	@$(FUNCTION) render -f examples/gateway/base
	@echo
	@echo '$$ expose-valkey ports -f examples/gateway/base'
	@$(FUNCTION) ports -f examples/gateway/base

.PHONY: test
test: build ## Set up what the tests need (Kustomize from its Go module) and run them all, but for those with containers
	$(CARGO) test --locked --workspace
	tools/test-examples.sh exec

.PHONY: test-valkey
test-valkey: ## Set up a Valkey server, and test the controller's words with it
	PATH=$$(tools/valkey.sh):$$PATH $(CARGO) test --locked --package expose-valkey-controller --test valkey

.PHONY: examples
examples: build image ## Run every example as a program and as a container, and compare with what it should print
	tools/test-examples.sh exec container

.PHONY: image
image: dist/expose-valkey ## Build the container image
	$$(tools/containers.sh)/docker build --quiet --target function --tag $(IMAGE) \
		--build-arg VERSION=$(VERSION) --build-arg REVISION=$$(git rev-parse HEAD 2>/dev/null || echo unknown) .
	tools/test-image.sh $(IMAGE)

.PHONY: dist/expose-valkey
dist/expose-valkey:
	@mkdir -p dist
	binary=$$(tools/static-binary.sh) && install -m 755 "$$binary" dist/expose-valkey

.PHONY: controller-image
controller-image: dist/expose-valkey-controller ## Build the controller's container image
	$$(tools/containers.sh)/docker build --quiet --target controller --tag $(CONTROLLER_IMAGE) \
		--build-arg VERSION=$(VERSION) --build-arg REVISION=$$(git rev-parse HEAD 2>/dev/null || echo unknown) .
	tools/test-controller-image.sh $(CONTROLLER_IMAGE)

.PHONY: dist/expose-valkey-controller
dist/expose-valkey-controller:
	@mkdir -p dist
	binary=$$(tools/static-binary.sh expose-valkey-controller) && install -m 755 "$$binary" dist/expose-valkey-controller

.PHONY: test-deploy
test-deploy: ## Build deploy/ in all its ways, and ask an API server what the controller may do
	tools/test-deploy.sh

.PHONY: lint
lint: ## Check formatting, lints, documentation, dependencies and scripts
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets --all-features -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --locked --workspace --no-deps --document-private-items
	@tree=$$($(CARGO) tree --locked --package expose-valkey --edges normal --prefix none); \
	if grep -E '^($(UNWANTED)) ' <<<"$$tree"; then echo 'these crates must not be in the function' >&2; exit 1; fi
	$$(tools/cargo-tool.sh cargo-deny 0.20.2) --workspace --locked check bans licenses sources
	shellcheck $$(git ls-files '*.sh') tools/docker examples/expose-valkey .ci/run

.PHONY: bench
bench: build ## Measure time and memory beside a function in Go
	benches/run.sh $(FUNCTION)

.PHONY: wasm
wasm: ## Build the WebAssembly modules for kpt, for WASI hosts and for the playground page
	tools/wasm.sh kpt wasi web

.PHONY: test-wasm
test-wasm: build ## Run the WebAssembly modules in every host, in kpt, in Kustomize and in a browser
	tools/wasm.sh kpt wasi web panics
	wasm/tests/test.sh $(FUNCTION)
	wasm/tests/tools.sh $(FUNCTION)

.PHONY: test-all
test-all: test test-valkey examples test-pipelines test-deploy test-operator test-controller bench-controller test-wasm ## Run all tests, those with containers and real tools too

.PHONY: schema
schema: build ## Write fn-config/schema.json from the types that read the functionConfig
	$(FUNCTION) schema > fn-config/schema.json

.PHONY: release-binary
release-binary: ## Build the function as it is released, and print where it is
	@$(CARGO) build --locked --profile release-lto
	@echo $(TARGET_DIR)/release-lto/expose-valkey
