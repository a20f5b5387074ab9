# The two that matter: `make demo` and `make test`. CONFIGURATION=release builds with optimisation.

CONFIGURATION ?= debug
# Of `make fuzz`: how long each target runs, and which (all where none is named).
SECONDS ?= 60
TARGETS ?=
# Of `make torture`, `make torture-servers` and `make torture-cluster`: blows, steps of the model, and the seed of all choices (a new one where none is named); with STEPS=… in
# the environment the model plays only the steps that a failure named.
ROUNDS ?= 100
MODEL ?= 10000
SEED ?=
# Of `make soak`.
MINUTES ?= 60
CLIENTS ?= 200
SEALKIT = .build/$(CONFIGURATION)/sealkit
release = Packaging/release
debug = swift build -c debug --product
# Of `make docs`.
BASE ?=
# Of `make install`: where it goes, and what is put before that (a package's folder).
PREFIX ?= /usr/local
DESTDIR ?=
# Which command is installed and packaged.
BINARY ?= .build/release/sealkit

.PHONY: help setup build release demo test test-postgres test-s3 attacks parity cloudkit torture torture-servers torture-cluster soak bench fuzz proofs vectors web web-check web-core web-library web-test bench-web protobuf docs format clean
.PHONY: install uninstall deb package-check container-check deploy-test console-pictures

help: ## Lists these targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-15s %s\n", $$1, $$2 }'

setup: ## Installs the Debian packages that are missing
	@Tests/Support/setup

build: setup ## Builds the sealkit command
	$($(CONFIGURATION)) sealkit

release: setup ## Builds the command for use: with Swift's libraries in it, and small
	Packaging/release sealkit

install: ## Installs what `make release` has built, with manual, completions and service, below PREFIX=/usr/local
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" BINARY="$(BINARY)" Packaging/install command service settings

uninstall: ## Removes what `make install` has installed, but settings and data
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" Packaging/install --uninstall command service settings

deb: setup ## Builds the Debian package, into .build/deb
	@Tests/Support/setup debhelper dpkg-dev
	@mkdir -p .build/deb && rm -f .build/deb/*
	BINARY="$(BINARY)" dpkg-buildpackage --build=binary --unsigned-changes --unsigned-buildinfo \
	    --buildinfo-file=.build/deb/sealkit.buildinfo --buildinfo-option=-u.build/deb \
	    --changes-file=.build/deb/sealkit.changes --changes-option=-u.build/deb
	@ls -l .build/deb/*.deb

package-check: deb ## Builds the Debian package, checks it by lintian, and installs, uses and purges it in a Debian of its own
	@Tests/Support/setup lintian debootstrap systemd-container
	@Tests/Support/package-check

container-check: deb ## Builds the Containerfile with the Debian package, by buildah, and has what comes of it serve
	@Tests/Support/setup buildah debootstrap
	@Tests/Support/container-check

demo: web build ## Four people share documents, one in a browser; a fifth, the server, and one who was removed see nothing
	$($(CONFIGURATION)) notes
	@python=$$(Tests/Support/browser) && $$python -B Tests/Demo/demo.py --sealkit $(SEALKIT) --notes .build/$(CONFIGURATION)/notes

test: setup ## Runs everything that is tested, and prints the totals
	@Tests/Support/run-tests

test-postgres: setup ## Runs the tests of the server and all attacks on a PostgreSQL of their own, and those of PostgreSQL
	@Tests/Support/setup postgresql
	@swift build --product sealkit && swift build --product SealKitPackageTests
	@SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=16 FSYNC=off SEALKIT_TEST_DATABASE=postgres \
	    Tests/Support/postgres swift test --skip-build --filter 'SealServerTests|DatabaseCommandTests|ServersTortureTests|attack[0-9]'

test-s3: setup ## Runs the tests of assets on an S3 store of their own, SeaweedFS from PyPI, and on files
	@swift build --product sealkit && swift build --product SealKitPackageTests
	@SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=16 Tests/Support/s3 swift test --skip-build \
	    --filter 'BlobStoreTests|S3[A-Z][a-z]+Tests|BlobsCommandTests'

attacks: setup ## Tries everything that a hostile server, participant or network may, and prints the table of what became of it
	@Tests/Support/attacks

parity: ## Prints what has become of every public member of Apple's CloudKit in the module CloudKit, and the totals
	@Tests/Support/parity

cloudkit: setup ## Builds an app and a library against the product CloudKit, as packages of their own, by the line of its documentation
	@Tests/Support/cloudkit

torture: setup ## Kills the server ROUNDS=100 times under load, lets clients be slow, a member hostile and devices sync, and plays MODEL=10000 steps against a model; SEED=… repeats
	swift build
	@ROUNDS=$(ROUNDS) MODEL=$(MODEL) SEED=$(SEED) .build/debug/SealTorture
	@swift build --product SealKitPackageTests
	@ROUNDS=$(ROUNDS) SEED=$(SEED) ORDERS=all SYNC_RUNS=$(ROUNDS) SYNC_SEED=$(SEED) swift test --skip-build --filter 'InsiderTortureTests|OrdersTests|SyncRunTests'

torture-servers: setup ## The same blows and steps before two servers, a PostgreSQL and an S3 store: ROUNDS=100 and MODEL=10000; SEED=… repeats
	@Tests/Support/setup postgresql
	swift build
	@ROUNDS=$(ROUNDS) MODEL=$(MODEL) SEED=$(SEED) .build/debug/SealTorture servers servers-model

soak: setup ## Lets CLIENTS=200 work for MINUTES=60 before a release server, with kills: memory, files and times; SEED=… repeats
	Packaging/release SealTorture
	Packaging/release sealkit
	@MINUTES=$(MINUTES) CLIENTS=$(CLIENTS) SEED=$(SEED) .build/release/SealTorture soak

bench: ## Measures the core against bare libsodium and age, the server against bare SQLite and Hummingbird, and the whole path
	@Tests/Support/setup age
	Packaging/release SealBench
	.build/release/SealBench

fuzz: setup ## Feeds every decoder of the core hostile bytes, SECONDS=60 each; TARGETS="value statement" for some
	@/usr/bin/python3 Fuzz/fuzz.py --seconds $(SECONDS) $(TARGETS)

torture-cluster: setup ## The same blows with PostgreSQL under Patroni, where one in eight is for the primary or its node: ROUNDS=100; SEED=… repeats
	swift build
	@ROUNDS=$(ROUNDS) SEED=$(SEED) Tests/Deploy/cluster

proofs: ## Runs the symbolic proofs of the protocol, by ProVerif (opam has it; PROVERIF=path/to/proverif where it is not on the PATH)
	@/usr/bin/python3 -B Proofs/run.py

vectors: build ## Generates the test vectors again
	$(SEALKIT) vectors generate

web-core: setup ## Builds the core as a browser's module, with libsodium from its pinned source, into .build/web-core
	@Tests/Support/setup wasi-libc binaryen brotli
	@Web/core/build

web: setup ## Builds the web client, which the next build of the command has in it; its hash is that of the same sources anywhere
	@Tests/Support/setup wasi-libc binaryen brotli
	@Web/build

web-check: setup ## Checks the types of the page's scripts and of the library for web apps, by tsc
	@Web/check

web-library: web ## Packs the library for web apps, with the core and its types, into .build/web/sealkit.tgz
	@Web/pack

web-test: web build ## Opens shares in a browser, as guests do; SCREENSHOTS=FOLDER keeps pictures of each screen
	@Tests/Web/run

console-pictures: web build ## Makes the manual's pictures of the console anew, by the tests in a browser
	@Tests/Support/setup pngquant
	@$$(Tests/Support/browser) -B Tests/Web/console.py --sealkit $(SEALKIT) --pictures
	@pngquant --force --ext .png --skip-if-larger --strip 32 Sources/SealServer/Documentation.docc/Resources/console-*.png

bench-web: web ## Measures the web client: opening records, a click to records, large files, two browsers for MINUTES=10; STRICT=1 fails where an aim is missed
	Packaging/release sealkit
	Packaging/release SealBench
	@python=$$(Tests/Support/browser) && \
	    MINUTES=$${MINUTES:-10} $$python -B Tests/Web/bench.py --sealkit .build/release/sealkit --bench .build/release/SealBench $(if $(STRICT),--strict)

deploy-test: build ## Runs the server behind Debian's nginx and Caddy, with certificates of an ACME authority, and two servers on a replicated database
	@SEALKIT=$(SEALKIT) Tests/Deploy/run

protobuf: setup ## Generates Sources/SealWire/*.pb.swift again
	@Tests/Support/setup protobuf-compiler
	swift build --product protoc-gen-swift
	protoc --plugin=protoc-gen-swift=.build/debug/protoc-gen-swift \
	    --swift_opt=Visibility=Public --swift_opt=UseAccessLevelOnImports=true \
	    --swift_out=Sources/SealWire -I Sources/SealWire $(notdir $(wildcard Sources/SealWire/*.proto))

docs: build ## Makes the documentation a site of static files in .build/docs/site; BASE=/PATH where it will stand below a path
	swift build --target SealKitTesting
	swift build --target CloudKit
	@Tests/Support/docs $(if $(BASE),--base "$(BASE)")

format: ## Formats the Swift sources
	@Tests/Support/style --format

clean: ## Removes what was built
	rm -rf .build
