# Two commands do everything: `make demo` and `make test`. Each makes .venv when it is missing.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

# Small matrices on few cores: threads inside BLAS would mostly wait for each other.
export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1

.PHONY: demo test test-all lint format bench docs clean

demo: $(STAMP)
	$(BIN)/steradian demo

test: $(STAMP)
	$(BIN)/python -m pytest -q -m "not slow" --cov --cov-report=term

test-all: $(STAMP)
	$(BIN)/python -m pytest -q --cov --cov-report=term

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)
	$(BIN)/python benchmarks/run.py

docs: $(STAMP)
	$(BIN)/python -m pytest -q --doctest-glob='*.md' README.md docs

clean:
	rm -rf .venv .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis dist

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(STAMP)
