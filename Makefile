# make train   set up, train a Connect Four agent in some minutes, let it meet uct@1000, ask it for a move;
#              where it was interrupted, go on
# make test    set up, run the tests
# make check   set up, run formatter, linter, type checker (here, and as on Windows) and the check of imports
# make bench   set up, measure this machine

PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
RUN := runs/connect_four_quick

.PHONY: train test test-first test-second test-slow check format docs bench clean

train: .venv/installed
	$(BIN)/azero train connect_four_quick --run $(RUN) $(if $(wildcard $(RUN)/config.toml),--resume)
	$(BIN)/azero evaluate $(RUN)@200 --against uct@1000 --games 200
	$(BIN)/azero suggest $(RUN)@200

# Two halves side by side, a core each; the second runs what the first leaves out.
FIRST := tests/arena tests/bench tests/interfaces tests/games tests/lab tests/nets tests/selfplay
PLAIN := tests/games tests/compiler/test_rng.py $(addprefix tests/mcts/test_,root.py tree.py selection.py views.py cache.py)

test: .venv/installed-dev
	$(MAKE) --jobs=2 --output-sync test-first test-second

test-first: .venv/installed-dev
	$(BIN)/python -m pytest $(FIRST)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest $(PLAIN)

test-second: .venv/installed-dev
	$(BIN)/python -m pytest tests $(addprefix --ignore=,$(FIRST))

test-slow: .venv/installed-dev
	$(BIN)/python -m pytest -m slow

check: .venv/installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32
	$(BIN)/lint-imports

format: .venv/installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: .venv/installed-dev
	$(BIN)/python -m azero.config.text > docs/configuration.md

bench: .venv/installed-dev
	$(BIN)/azero bench
	$(BIN)/python benchmarks/uct_against_openspiel.py

clean:
	rm -rf .venv

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml constraints.txt
	$(INSTALL) -e .
	touch $@

.venv/installed-dev: .venv/installed
	$(INSTALL) -e '.[dev]'
	touch $@
