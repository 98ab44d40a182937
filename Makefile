# A thin front door; CMakeLists.txt is the build. `make help` lists the targets.

PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
BUILD ?= build
SECONDS ?= 60
ifeq ($(origin CC),default)
CC = gcc
endif
FILES ?= $(shell git diff --name-only --diff-filter=d HEAD -- '*.c'; git ls-files -o --exclude-standard -- '*.c')

MAKEFLAGS += --no-print-directory

.PHONY: all configure demo check check-all check-long models coverage fuzz mutants paths bench peers install lint format symbols clean help

all: configure ## build everything into build/ (the command is build/filch)
	@cmake --build $(BUILD) --parallel $(JOBS)

configure:
	@scripts/deps.sh build
	@mkdir -p $(BUILD)
	@CC=$(CC) cmake -S . -B $(BUILD) -DFILCH_PEERS=ON $(CMAKE_ARGS) >$(BUILD)/configure.log 2>&1 \
	    || { cat $(BUILD)/configure.log; exit 1; }

demo: configure ## build the command, then run a short demonstration
	@cmake --build $(BUILD) --parallel $(JOBS) --target filch_command
	@$(BUILD)/filch demo

check: ## the gate of every commit: lint, gcc, clang, ucontext, and the sanitizers of both
	@scripts/deps.sh check
	@scripts/check.sh

check-all: ## the same, with all tests under all sanitizers
	@scripts/deps.sh check
	@scripts/check.sh all

check-long: all ## the tests that take minutes
	@ctest --test-dir $(BUILD) -L long --output-on-failure --no-tests=error

models: all ## explore every model of the core's protocols; the checker's own litmus tests first
	@for m in litmus $$(ls $(BUILD)/model | grep -v '^litmus$$'); do $(BUILD)/model/$$m || exit 1; done

coverage: ## line coverage of the quick tests: table, build-coverage/index.html, gate at 95 %
	@scripts/deps.sh build
	@scripts/coverage.sh

fuzz: ## libFuzzer on every parser, SECONDS=60 each
	@scripts/deps.sh check
	@scripts/fuzz.sh $(SECONDS)

mutants: ## does a test fail for every seeded break of tests/mutants? SAMPLE=N, ONLY=REGEX
	@scripts/deps.sh build
	@SAMPLE=$(SAMPLE) ONLY='$(ONLY)' scripts/mutants.sh

paths: ## the ruler: instructions per operation, compared with tests/paths.txt (docs/testing.md)
	@scripts/deps.sh paths
	@scripts/paths.sh

bench: all ## fork-join benchmarks, with the peers that are installed
	@$(BUILD)/filch bench forkjoin

peers: ## install the runtimes that the benchmarks compare with (apt)
	@scripts/deps.sh peers

install: all ## install below $(DESTDIR)$(PREFIX)
	@cmake -S . -B $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD) --prefix $(PREFIX)

lint: ## the rules of docs/hacking.md that a machine can check
	@scripts/lint

format: ## clang-format on the .c files changed since the last commit, or FILES="..."
	@clang-format -i --verbose $(FILES)

symbols: all ## rewrite tests/api/symbols.txt from the library just built
	@scripts/symbols.sh --update $(BUILD)/libfilch.so

clean: ## remove every build directory
	rm -rf build build-clang build-ucontext build-asan build-tsan build-clang-asan build-clang-tsan \
	    build-coverage build-fuzz build-mutants build-paths

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
