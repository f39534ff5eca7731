# Every target says in one line what it does; `make` alone prints them.
.DEFAULT_GOAL := help
.PHONY: help demo test build check lint deny stock wasm-target clean

CARGO ?= cargo

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Run the real thing on this repository: no key, no server, no network
	@./scripts/demo

test: wasm-target ## Run every test
	$(CARGO) test --workspace

build: ## Build the release binary: target/release/deputy
	$(CARGO) build --release -p deputy-cli

check: lint deny test ## Everything that has to hold before a change lands

lint: ## Formatting, clippy and documentation, warnings are errors
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps

deny: ## Licences, bans, sources and advisories of the dependencies
	@./scripts/deny

stock: wasm-target ## Build the stock subagents again, after a change to the guest SDK or to them
	@./scripts/build-stock

wasm-target:
	@./scripts/ensure-wasm-target

clean: ## Remove what was built
	$(CARGO) clean
	rm -rf target-guests
