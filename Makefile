# `make check` does the main job, `make test` runs everything that guards it. Both work in a fresh clone
# with Python 3.11 and make: they create .venv and install into it what they need.

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin

.PHONY: check test lint bench engines test-engines handbook test-handbook clean

check: $(VENV)/installed
	$(BIN)/schedproof check --everything

test: $(VENV)/installed-dev lint
	$(BIN)/python -m pytest -n 2 --ignore tests/engines --ignore tests/handbook

lint: $(VENV)/installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# Minutes; alone on the machine, or the numbers mean little. SPIN is used if it is installed.
bench: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]' || echo "no minicheck: it will be left out"
	$(BIN)/python -m benchmarks.run

# The engines' own environments, 2.5 GB in .engines/, and the lane of tests that needs them.
engines: $(VENV)/installed
	$(BIN)/schedproof drive vllm==0.10.2 --setup --only-setup

test-engines: $(VENV)/installed-dev
	$(BIN)/schedproof drive vllm==0.10.2 --setup --only-setup || echo "engine tests will be skipped: no environment"
	$(BIN)/python -m pytest -m engine tests/engines

# The teaching document, in handbook/, and the lane of tests that builds it again and opens it in Chromium.
handbook: $(VENV)/installed-dev
	$(BIN)/schedproof handbook --out handbook

test-handbook: handbook
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[browser]' || echo "no playwright: browser tests will be skipped"
	npm install --silent --no-audit --no-fund --prefix .browser axe-core@4 || echo "no axe-core: its test will be skipped"
	SCHEDPROOF_HANDBOOK=handbook $(BIN)/python -m pytest tests/handbook

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[engine]'
	touch $@

$(VENV)/installed-dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,engine]'
	touch $@ $(VENV)/installed

clean:
	rm -rf $(VENV) schedproof-traces schedproof-findings handbook .browser .pytest_cache .mypy_cache .ruff_cache .hypothesis dist
