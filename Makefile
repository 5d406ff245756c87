# make run: the app. make test: everything that CI checks. Both make .venv and install on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8501
RUN_STAMP := $(VENV)/.run-installed
TEST_STAMP := $(VENV)/.test-installed

# Compiled modules are saved: compiling hundreds of files in every process is a tenth of the time of the tests.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test lint types scripts check-scripts unit browser shots clean

run: $(RUN_STAMP)
	$(BIN)/python -m readagent_core app --port $(PORT)

test: lint types scripts unit browser

lint: $(TEST_STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(TEST_STAMP)
	$(BIN)/mypy

# Types, rules and unit tests of the browser scripts. The app needs no node; in CI they must run.
scripts:
	@if command -v node >/dev/null && command -v npm >/dev/null; then $(MAKE) --no-print-directory check-scripts; \
	elif [ -n "$$CI" ]; then echo "CI needs node 20 or newer, and npm, for the tests of the browser scripts"; exit 1; \
	else echo "skipped: the tests of the browser scripts need node 20 or newer, and npm"; fi

check-scripts: node_modules/.installed
	npx tsc
	npx biome ci --error-on-warnings --log-level=warn
	node --test tests/scripts/*.test.js

node_modules/.installed: package.json package-lock.json
	npm ci --no-audit --no-fund --loglevel=error
	@touch $@

# Some tests wait for a server or a lock: three workers keep two cores busy. Each takes the tests of whole files, whose
# fixtures it then makes once.
unit: $(TEST_STAMP)
	$(BIN)/python -m pytest -m "not browser" -n 3 --dist worksteal

# The tests of one file share the state of one app, so they stay in one of the two browsers.
browser: $(TEST_STAMP)
	$(BIN)/python -m pytest tests/browser -n 2 --dist loadfile

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "ReadAgent needs Python 3.11 or newer; this is $$($(PYTHON) --version). Try: make PYTHON=python3.12 run"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(RUN_STAMP): requirements.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

$(TEST_STAMP): requirements.txt $(wildcard requirements-*.txt) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-real-server.txt
	@touch $@

shots: $(TEST_STAMP)
	$(BIN)/python bench/screenshots.py

clean:
	rm -rf $(VENV) node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis shots
