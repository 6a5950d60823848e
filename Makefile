# One command each: `make demo` runs the main job on the bundled sample, `make test` checks everything.
# Both work from a bare clone with only Python (3.11 or newer) and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

# Tests run in parallel processes already; threads inside each would only fight over the cores.
export OPENBLAS_NUM_THREADS ?= 1
# Compiled modules are kept, whatever the environment says: every worker and every command's process reads them.
export PYTHONDONTWRITEBYTECODE =

.PHONY: demo test coverage fuzz doors test-engines test-pages test-pages-quick test-api test-serve-long lint types imports unit paper bench audit sample docs dist test-package constraints clean

demo: $(READY)
	$(BIN)/rowspace demo -o out/demo --force

# The tests start as soon as a processor has nothing else to check.
test: $(READY)
	$(MAKE) --no-print-directory -j2 lint types imports unit

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy
	$(BIN)/mypy examples benchmarks

imports: $(READY)
	$(BIN)/lint-imports

# Neighbours stay in one process, which shares their fixtures and plans, until another has nothing left.
unit: $(READY)
	$(BIN)/pytest -n auto --dist worksteal

# The share of statements that `make unit` runs, file by file where some are left; twice as slow as without.
coverage: $(READY)
	$(BIN)/python -m pip install --quiet --group coverage
	$(BIN)/pytest -n auto --dist worksteal --cov=rowspace --cov-report=term-missing:skip-covered

# The same tests with examples that no run has drawn yet: `make test` draws the same ones every time.
fuzz: $(READY)
	ROWSPACE_FUZZ=1 $(BIN)/pytest -n auto --dist worksteal -m "long or not long"

# A thousand random questions through every door: each way to get a number gives the same one, and pandas' count.
# And 200 releases of every real table: intervals cover pandas' counts.
QUESTIONS ?= 1000
RELEASES ?= 200
doors: $(READY)
	$(BIN)/python -m pip install --quiet --group doors
	ROWSPACE_DOORS=$(QUESTIONS) ROWSPACE_RELEASES=$(RELEASES) $(BIN)/pytest -n auto -m "long or not long" tests/doors tests/interop tests/real

# PostgreSQL and Spark for real: one that is named here and missing is a failure, not a skip.
ENGINES ?= postgres,spark
test-engines: $(READY)
	$(BIN)/python -m pip install --quiet --group engines
	tests/engines/install-servers $(ENGINES)
	ROWSPACE_ENGINES=$(ENGINES) $(BIN)/pytest tests/engines

# Pages in a real Chromium: Debian's, driven by Playwright; installed where it may be. Quick, as CI runs it: one of tests that are alike.
test-pages: $(READY)
	$(BIN)/python -m pip install --quiet --group pages
	tests/pages/install-browser
	ROWSPACE_PAGES=1 $(BIN)/pytest tests/pages -m "long or not long"

test-pages-quick: $(READY)
	$(BIN)/python -m pip install --quiet --group pages
	tests/pages/install-browser
	ROWSPACE_PAGES=1 $(BIN)/pytest tests/pages

# Thousands of requests made from the OpenAPI document of a real service: no 500, no answer that the document does not know.
test-api: $(READY)
	$(BIN)/python -m pip install --quiet --group api
	ROWSPACE_API=100 $(BIN)/pytest tests/serve/test_openapi.py

# The service for long: 200 kills of workers, 50 analysts racing, ten minutes of traffic (SOAK seconds), figures printed.
SOAK ?= 600
test-serve-long: $(READY)
	$(BIN)/python -m pip install --quiet "psycopg[binary]>=3.2"
	$(BIN)/python -m benchmarks.serve free refused race kills=200 soak=$(SOAK)

# Every claim of the paper beside ours: out/paper/paper.html, about a minute.
paper: $(READY)
	$(BIN)/rowspace paper -o out/paper --force

# Peers in an environment of their own: what they pin is no business of the project's. One that cannot be installed
# is a row that says so.
BENCH := .venv-bench
bench: $(BENCH)/.ready
	$(BENCH)/bin/python -m benchmarks --write

$(BENCH)/.ready: pyproject.toml research/pyproject.toml
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --upgrade pip
	$(BENCH)/bin/python -m pip install --quiet --editable '.[plots]' --editable ./research
	for peer in $$($(BENCH)/bin/python -m benchmarks.peers); do \
	    $(BENCH)/bin/python -m pip install --quiet "$$peer" || echo "left out: $$peer"; done
	touch $@

# The site: docs/_build/html/index.html. Every warning is an error.
docs: $(READY)
	$(BIN)/python -m pip install --quiet --group docs
	$(BIN)/sphinx-build -W --keep-going --quiet -b html docs docs/_build/html

dist: $(READY)
	$(BIN)/python -m pip install --quiet --group dist
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m build --outdir dist research
	$(BIN)/twine check --strict dist/*

# What is in dist/, installed in an environment of its own, runs the demo there: rowspace alone, then rowspace-paper too.
test-package: dist
	ROWSPACE_DIST=dist $(BIN)/pytest tests/test_package_install.py

# Every long audit, half an hour of a processor; it installs a PostgreSQL and strace, where it may, for the ledger's faults.
audit: $(READY)
	tests/engines/install-servers postgres,strace
	$(BIN)/python -m audits --write

# constraints.txt: the versions that a fresh environment resolves to, for `pip install -c`; no hashes, no addresses.
PINNED := .venv-pinned
constraints:
	rm -rf $(PINNED)
	$(PYTHON) -m venv $(PINNED)
	$(PINNED)/bin/python -m pip install --quiet --upgrade pip
	$(PINNED)/bin/python -m pip install --quiet '.[postgres,xlsx,plots,polars]'
	( echo "# Versions that work together (make constraints): pip install -c constraints.txt rowspace"; \
	  $(PINNED)/bin/python -m pip list --format freeze --exclude rowspace --exclude pip --exclude setuptools ) > constraints.txt
	rm -rf $(PINNED)

sample: $(READY)
	$(BIN)/python -m tests.sample.generate

# Both packages: rowspace, and research/ beside it.
$(READY): pyproject.toml research/pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable . --editable ./research --group dev
	touch $@

clean:
	rm -rf $(VENV) $(BENCH) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist build docs/_build docs/reference/api
