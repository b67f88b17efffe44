# make setup   everything into .venv          make train   the quickstart, from a bare clone
# make check   lint and fast unit tests       make test    everything; CI runs it and `make site`
# make docs    generated pages and the        make site    the documentation as a site, in build/site
#              picture of the phone
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
SITE_READY := .venv/.site-ready
# In the order of the folders: what takes long (faults, integration) starts first and does not wait for each other at the end.
PYTEST_OPTIONS ?= -n 2 --dist loadfile --no-loadscope-reorder

# Each test process does its own small work; more threads than cores would only make them wait for each other.
export OMP_NUM_THREADS ?= 1

.PHONY: setup train check test lint adb format docs site clean

setup: $(READY)

# Byte-compiling everything up front would double the time; what is used gets compiled when it is used.
# torch first and alone: its build (CPU or GPU) is whatever your pip is set up to find under the pinned version.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12 setup")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --no-compile -c constraints.txt torch
	$(BIN)/python -m pip install -q --no-compile -c constraints.txt -e '.[dev]'
	touch $@

train: setup
	$(BIN)/distrl train quickstart $(ARGS)

check: lint
	$(BIN)/python -m pytest $(PYTEST_OPTIONS) -m "not slow" tests/unit

test: lint adb
	$(BIN)/python -m pytest $(PYTEST_OPTIONS)

# The distribution's adb, where it is missing and may be installed; the tests also use the newer one inside adbutils.
adb:
	@command -v adb > /dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null \
		&& { apt-get install -yqq adb || { apt-get update -qq && apt-get install -yqq adb; }; } > /dev/null 2>&1; } \
		|| echo "no adb on this machine: the tests that want the distribution's are skipped"

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: setup
	$(BIN)/distrl config --markdown > docs/configuration.md
	$(BIN)/python -m distrl.bench.learning.plots docs/images results/learning-general.json results/learning-webshop.json
	$(BIN)/python -m distrl.bench.learning.reproduction > docs/reproduction.md
	$(BIN)/python -c 'from distrl.devices.sim.preview import sheet; sheet().save("docs/images/phone.png", optimize=True)'

$(SITE_READY): $(READY)
	$(BIN)/python -m pip install -q --no-compile -c constraints.txt -e '.[docs]'
	touch $@

# Strict: a link or an anchor that leads nowhere fails it (not with --quiet, which leaves warnings uncounted).
site: $(SITE_READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache src/*.egg-info
