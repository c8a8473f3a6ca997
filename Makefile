# Two commands do everything: `make demo` and `make test`. Each makes .venv when it is missing.
PYTHON ?= python3
OLDEST_PYTHON ?= python3.11
BIN := .venv/bin
STAMP := .venv/.installed
SITE_STAMP := .venv/.installed-docs
OLDEST := .venv-oldest
OLDEST_STAMP := $(OLDEST)/.installed

# Small matrices on few cores: threads inside BLAS would mostly wait for each other.
export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1

# Workers and the commands that tests start share what the first of them compiled.
export PYTHONDONTWRITEBYTECODE :=

# Tests run in one process per core; WORKERS=0 runs them in this one (for a debugger).
WORKERS ?= auto
PYTEST := -m pytest -q -n $(WORKERS) --dist worksteal

# Long tests of numbers, unlike the calibrations, which are long because they simulate.
NUMBERS := tests/test_accuracy.py tests/test_hostile.py tests/adequacy/test_leverage.py \
	tests/conformance/test_shipped.py tests/existence/test_boundary.py \
	tests/existence/test_certificates.py tests/existence/test_face.py \
	tests/families/test_concentrated.py tests/families/test_far_modes.py \
	tests/families/test_fisher_bingham_fit.py tests/families/test_mesh_search.py \
	tests/families/test_tight_clusters.py \
	tests/fitting/test_fisher_bingham.py tests/numerics/test_chi_square_mixture.py \
	tests/fuzz/test_fuzz.py tests/hierarchies/test_bounded_zonal.py \
	tests/hierarchies/test_low_rank.py tests/hierarchies/test_high_harmonics.py \
	tests/hierarchies/test_quadratics.py tests/hierarchies/test_stacked.py \
	tests/hierarchies/test_zonal.py tests/profile/test_label_noise.py tests/report/test_page.py \
	tests/inference/test_effort.py tests/test_once_wrong.py

# The fuzz: as many cases or seconds as one likes, from any first case, or one case again.
CASES ?= 0
SECONDS ?= 0
SEED ?= 0
CASE ?=

.PHONY: demo test test-all test-slow test-browser test-kernels test-oldest coverage margins minimal fuzz golden \
	golden-update lint format bench docs clean

demo: $(STAMP)
	$(BIN)/steradian demo --report steradian_report.html

test: $(STAMP)
	$(BIN)/python $(PYTEST) -m "not slow"

test-all: $(STAMP)
	$(BIN)/python $(PYTEST)

# Which lines the quick suite does not reach; tracing makes it half as long again.
coverage: $(STAMP)
	$(BIN)/python $(PYTEST) -m "not slow" --cov --cov-report=term

test-slow: $(STAMP)
	$(BIN)/python $(PYTEST) -m slow $(NUMBERS)

# Reports in headless Chromium; skipped where it, its driver or AXE is missing (docs/testing.md).
AXE ?= node_modules/axe-core/axe.min.js
test-browser: $(STAMP)
	STERADIAN_AXE=$(if $(STERADIAN_AXE),$(STERADIAN_AXE),$(AXE)) $(BIN)/python -m pytest -q -n 0 -m slow \
		tests/report/test_browser.py

test-kernels: $(STAMP)
	$(BIN)/python tools/kernels.py $(PYTEST)

# Old libraries meet newer ones of their own dependencies, which deprecate what they call.
test-oldest: $(OLDEST_STAMP)
	$(OLDEST)/bin/python $(PYTEST) -m "not slow" -W ignore::DeprecationWarning

margins: $(STAMP)
	PYTHONPATH=tests PYTHONPYCACHEPREFIX=.pytest_cache/margins $(BIN)/python -m pytest -q \
		-p margins -o enable_assertion_pass_hook=true -m "not slow"

minimal: $(STAMP)
	$(BIN)/python tools/minimal_install.py

# What results and texts are compared with; ONLY=part-of-a-name asks some, STREAMS=1 after a change of random streams.
ONLY ?=
STREAMS ?=
GOLDEN := PYTHONPATH=tests $(BIN)/python -m golden --only "$(ONLY)" $(if $(STREAMS),--streams)
golden: $(STAMP)
	$(GOLDEN)

golden-update: $(STAMP)
	$(GOLDEN) --update

fuzz: $(STAMP)
	PYTHONPATH=tests $(BIN)/python -m fuzz --cases $(CASES) --seconds $(SECONDS) --seed $(SEED) \
		--case "$(CASE)"

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Numbers go to JSON; AGAINST=earlier.json tells what has become worse beyond noise.
JSON ?= benchmarks/results/latest.json
AGAINST ?=
bench: $(STAMP)
	$(BIN)/python benchmarks/run.py --json $(JSON) $(if $(AGAINST),--against $(AGAINST))
	$(BIN)/python benchmarks/refusals.py --cases 200

# Every example of README and docs runs, then the site is built into site/ and its links are followed.
docs: $(SITE_STAMP)
	$(BIN)/python $(PYTEST) --doctest-glob='*.md' README.md docs tests/test_docs.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	$(BIN)/python tools/site_check.py site

clean:
	rm -rf .venv $(OLDEST) site .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis dist

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(STAMP)

$(SITE_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $(SITE_STAMP)

# Every dependency at the oldest version that pyproject.toml allows.
$(OLDEST_STAMP): pyproject.toml tools/oldest.py
	test -x $(OLDEST)/bin/python || $(OLDEST_PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python tools/oldest.py dev > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint $(OLDEST)/constraints.txt --editable '.[dev]'
	touch $(OLDEST_STAMP)
