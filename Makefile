# make install    set up azero in .venv
# make train      set up, train a Connect Four agent for 7 minutes, play it against uct@1000, ask it for a move;
#                 after an interruption it goes on
# make test       set up, run the quick tests
# make test-all   set up, run all tests, the slow ones and those in plain Python included
# make test-long  set up, run the tests that take minutes each, which no other command runs
# make test-browser
#                 set up, run all tests of the page, in Chromium; `make test-browser-quick` runs some, in two minutes
# make test-page  set up, run the tests of the page that need no browser, in Node
# make check      set up, run formatters, linters and type checkers of Python (here, and as on Windows) and of the page
# make test-cluster
#                 set up, run the tests with Ray; `make test-cluster-quick` runs some, in two minutes, and
#                 `make test-cluster-long` the long ones, with nodes that come and go
# make torture    set up, kill runs and let disks fail for MINUTES, then feed hostile inputs and flip bits
# make bench      set up, measure this machine
# make wheel      set up, compile the kernels of the shipped games for most CPUs, build a wheel with them into dist/
# make docs       set up, write the pages that are made from the code, and the figures in all pages
# make site       set up, build the documentation as a site into site/

PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
NPM := PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/npm --prefix tests/page --silent
RUN := runs/connect_four_quick

.PHONY: install train test quick-first quick-second test-all all-first all-second all-plain test-long test-browser test-browser-quick test-page test-cluster test-cluster-quick test-cluster-long torture check format docs site wheel bench clean

install: .venv/installed

train: .venv/installed
	$(BIN)/azero train connect_four_quick --run $(RUN) $(if $(wildcard $(RUN)/config.toml),--resume,--minutes 7)
	$(BIN)/azero evaluate $(RUN)@200 --against uct@1000 --games 100
	$(BIN)/azero suggest $(RUN)@200

# Two halves side by side, one core each: the first has rules, searches and agents, the second self-play, training, the
# server and the commands, so that few kernels are compiled in both. The second runs what the first leaves out. Of
# `make test-all`, the half that ends first goes on with the tests in plain Python.
FIRST := $(addprefix tests/,arena bench compiler exact games interfaces/engines lab mcts \
	test_check_game.py test_guide.py test_linear_time.py test_notebook.py)
PLAIN := tests/games $(addprefix tests/compiler/test_,bits.py rng.py) \
	$(addprefix tests/mcts/test_,root.py tree.py selection.py views.py cache.py)

test: .venv/installed-dev
	$(MAKE) --jobs=2 --output-sync quick-first quick-second

quick-first: .venv/installed-dev
	$(BIN)/python -m pytest $(FIRST)

quick-second: .venv/installed-dev
	$(BIN)/python -m pytest tests $(addprefix --ignore=,$(FIRST))

test-all: .venv/installed-dev
	$(MAKE) --jobs=2 --output-sync all-first all-second all-plain

all-first: .venv/installed-dev
	$(BIN)/python -m pytest -m "not long and not browser and not cluster" $(FIRST)

all-second: .venv/installed-dev
	$(BIN)/python -m pytest -m "not long and not browser and not cluster" tests $(addprefix --ignore=,$(FIRST))

all-plain: .venv/installed-dev
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest $(PLAIN)

test-long: .venv/installed-dev
	$(BIN)/python -m pytest -m "long and not cluster" tests

test-browser: .venv/installed-dev test-page
	$(BIN)/python -m pytest -m browser tests/browser

test-browser-quick: .venv/installed-dev test-page
	$(BIN)/python -m pytest -m "browser and not slow" tests/browser

test-page: tests/page/node_modules/.installed
	$(NPM) test

test-cluster: .venv/installed-cluster
	$(BIN)/python -m pytest -m "cluster and not long" tests/cluster

test-cluster-quick: .venv/installed-cluster
	$(BIN)/python -m pytest -m "cluster and not slow and not long" tests/cluster

test-cluster-long: .venv/installed-cluster
	$(BIN)/python -m pytest -m "cluster and long" -s tests/cluster

MINUTES := 10
INPUTS := 1000

torture: .venv/installed-dev
	PYTHONPATH=tests $(BIN)/python -m torture.torture --minutes $(MINUTES)
	PYTHONPATH=tests $(BIN)/python -m torture.fuzz --inputs $(INPUTS)
	PYTHONPATH=tests $(BIN)/python -m torture.flips --flips $(INPUTS)

check: .venv/installed-dev tests/page/node_modules/.installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32
	$(BIN)/lint-imports
	$(NPM) run check

format: .venv/installed-dev tests/page/node_modules/.installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(NPM) run format

docs: .venv/installed-dev
	$(BIN)/python docs/make.py

# Not --quiet: what is broken would pass, too.
site: .venv/installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

wheel: .venv/installed-dev
	$(BIN)/python wheel/make_libraries.py
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	rm -r azero/compiler/libraries

bench: .venv/installed-dev
	$(BIN)/azero bench
	$(BIN)/python benchmarks/uct_against_openspiel.py

clean:
	rm -rf .venv site dist azero/compiler/libraries tests/page/node_modules

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml constraints.txt
	$(INSTALL) -e .
	touch $@

.venv/installed-dev: .venv/installed
	$(INSTALL) -e '.[dev]'
	touch $@

tests/page/node_modules/.installed: .venv/installed-dev tests/page/package-lock.json
	$(NPM) ci --no-audit --no-fund
	touch $@

.venv/installed-cluster: .venv/installed-dev
	$(INSTALL) -e '.[dev,ray]'
	touch $@

.venv/installed-docs: .venv/installed
	$(INSTALL) -e '.[docs]'
	touch $@
