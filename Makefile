# The two that matter: `make demo` and `make test`. CONFIGURATION=release builds with optimisation.

CONFIGURATION ?= debug
# Of `make fuzz`: how long each target runs, and which (all where none is named).
SECONDS ?= 60
TARGETS ?=
# Of `make torture`: kills, steps of the model, and the seed of all choices (a new one where none is named); with STEPS=… in
# the environment the model plays only the steps that a failure named.
ROUNDS ?= 100
MODEL ?= 10000
SEED ?=
SEALKIT = .build/$(CONFIGURATION)/sealkit
# With Swift's libraries in them, released programs are faster and run where no Swift is installed.
release = -c release --static-swift-stdlib
debug = -c debug

.PHONY: help setup build demo test attacks torture bench fuzz proofs vectors web-core protobuf docs format clean

help: ## Lists these targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-10s %s\n", $$1, $$2 }'

setup: ## Installs the Debian packages that are missing
	@Tests/Support/setup

build: setup ## Builds the sealkit command
	swift build $($(CONFIGURATION)) --product sealkit

demo: build ## Three people share documents; a fourth, the server, and one who was removed see nothing
	@/usr/bin/python3 Tests/Demo/demo.py --sealkit $(SEALKIT)

test: setup ## Runs everything that is tested, and prints the totals
	@Tests/Support/run-tests

attacks: setup ## Tries everything that a hostile server, participant or network may, and prints the table of what became of it
	@Tests/Support/attacks

torture: setup ## Kills the server ROUNDS=100 times under load, lets clients be slow, a member hostile and devices sync, and plays MODEL=10000 steps against a model; SEED=… repeats
	swift build
	@ROUNDS=$(ROUNDS) MODEL=$(MODEL) SEED=$(SEED) .build/debug/SealTorture
	@swift build --product SealKitPackageTests
	@ROUNDS=$(ROUNDS) SEED=$(SEED) ORDERS=all SYNC_RUNS=$(ROUNDS) swift test --skip-build --filter 'InsiderTortureTests|OrdersTests|SyncRunTests'

bench: ## Measures the core against bare libsodium and age, the server against bare SQLite and Hummingbird, and the whole path
	@Tests/Support/setup age
	swift build $(release)
	.build/release/SealBench

fuzz: setup ## Feeds every decoder of the core hostile bytes, SECONDS=60 each; TARGETS="value statement" for some
	@/usr/bin/python3 Fuzz/fuzz.py --seconds $(SECONDS) $(TARGETS)

proofs: ## Runs the symbolic proofs of the protocol, by ProVerif (opam has it; PROVERIF=path/to/proverif where it is not on the PATH)
	@/usr/bin/python3 -B Proofs/run.py

vectors: build ## Generates the test vectors again
	$(SEALKIT) vectors generate

web-core: setup ## Builds the core as a browser's module, with libsodium from its pinned source, into .build/web-core
	@Tests/Support/setup wasi-libc brotli
	@Web/core/build

protobuf: setup ## Generates Sources/SealWire/*.pb.swift again
	@Tests/Support/setup protobuf-compiler
	swift build --product protoc-gen-swift
	protoc --plugin=protoc-gen-swift=.build/debug/protoc-gen-swift \
	    --swift_opt=Visibility=Public --swift_opt=UseAccessLevelOnImports=true \
	    --swift_out=Sources/SealWire -I Sources/SealWire $(notdir $(wildcard Sources/SealWire/*.proto))

docs: build ## Builds the documentation into .build/docs, without a warning
	swift build --target SealKitTesting
	@Tests/Support/docs

format: ## Formats the Swift sources
	@Tests/Support/style --format

clean: ## Removes what was built
	rm -rf .build
