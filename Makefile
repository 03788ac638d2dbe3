# Two commands do everything on a fresh machine: `make demo` (the main job) and `make test` (the tests).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: demo test test-full soak lint format clean

$(BIN)/python:
	@echo "familytool: making the virtual environment $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "familytool needs Python 3.11 or newer; call: make PYTHON=python3.11 ...")'
	@$(PYTHON) -m venv $(VENV)

# One stamp for each set of packages, so that nothing is installed twice. pip's own progress bar shows the downloads.
$(VENV)/demo.stamp: pyproject.toml constraints.txt | $(BIN)/python
	@echo "familytool: installing the package with its metric (about 500 MB, once)"
	@$(PIP) install --progress-bar on -c constraints.txt -e '.[metric]'
	@touch $@

$(VENV)/test.stamp: $(VENV)/demo.stamp
	@echo "familytool: installing what the tests need"
	@$(PIP) install --progress-bar on -c constraints.txt pytest pytest-xdist hypothesis rdflib
	@touch $@

$(VENV)/full.stamp: $(VENV)/test.stamp
	@echo "familytool: installing what the full tests need (about 170 MB more)"
	@$(PIP) install --progress-bar on -c constraints.txt great-expectations jsonschema-rs
	@touch $@

$(VENV)/lint.stamp: $(VENV)/demo.stamp
	@echo "familytool: installing the linters"
	@$(PIP) install --progress-bar on -c constraints.txt ruff mypy import-linter types-jsonschema
	@touch $@

demo: $(VENV)/demo.stamp
	@$(BIN)/familytool run home

test: $(VENV)/test.stamp
	@$(BIN)/python -m pytest -n auto --dist worksteal -m "not full and not soak and not external"

test-full: $(VENV)/full.stamp
	@$(BIN)/python -m pytest -n auto --dist worksteal -m "not soak and not external" -rs

soak: $(VENV)/full.stamp
	@$(BIN)/python -m pytest -m "soak" -rs -s

lint: $(VENV)/lint.stamp
	@$(BIN)/ruff format --check familytool tests benchmarks
	@$(BIN)/ruff check familytool tests benchmarks
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(VENV)/lint.stamp
	@$(BIN)/ruff format familytool tests benchmarks
	@$(BIN)/ruff check --fix familytool tests benchmarks

clean:
	rm -rf $(VENV) runs .pytest_cache .mypy_cache .ruff_cache .hypothesis
