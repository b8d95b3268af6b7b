# `make check` does the main job, `make test` runs everything that guards it. Both work in a fresh clone
# with Python 3.11 and make: they create .venv and install into it what they need.

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin

.PHONY: check test lint clean

check: $(VENV)/installed
	$(BIN)/schedproof check

test: $(VENV)/installed-dev lint
	$(BIN)/python -m pytest -n 2

lint: $(VENV)/installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/installed-dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@ $(VENV)/installed

clean:
	rm -rf $(VENV) schedproof-traces .pytest_cache .mypy_cache .ruff_cache .hypothesis dist
