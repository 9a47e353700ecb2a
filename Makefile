# Everything a developer types. The virtual environments make themselves; `make help` lists targets.

PYTHON ?= python3
VENV := .venv
RIVALS_VENV := .venv-rivals
BIN := $(VENV)/bin

# One thread per numerical library: the fits in the tests are too small to share out.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
# OpenBLAS has kernels by processor, which round differently: one of them for all, so that figures of
# several machines compare. What is timed takes the processor's own, and all threads.
ifneq ($(shell grep -m 1 -o avx2 /proc/cpuinfo 2>/dev/null),)
export OPENBLAS_CORETYPE ?= Haswell
endif
FREE_THREADS := env -u OMP_NUM_THREADS -u OPENBLAS_NUM_THREADS -u OPENBLAS_CORETYPE
# Compiled numba kernels are kept here, so that the second run starts warm.
export NUMBA_CACHE_DIR ?= $(CURDIR)/.numba_cache
export PIP_DISABLE_PIP_VERSION_CHECK ?= 1
# What `make test-lower` runs: every class, the files, the costs, the engines.
LOWER_TESTS := tests/golden tests/algorithms/test_contracts.py tests/costs tests/files/test_round_trip.py \
	tests/gbm/test_sources.py tests/cli/test_fit_predict.py

.DEFAULT_GOAL := help
.PHONY: help run test test-fast test-lower test-recipes lint format types measure trust sbom constraints bench \
	bench-costs bench-speed docs docs-serve docs-pages clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(VENV)/.installed ## Install the package and run the demo
	$(BIN)/costboost demo --force
	@printf '\nNow with a file of yours (here: one that the first line writes):\n'
	@printf '  %s\n' '$(BIN)/costboost data example -o payments.csv' \
	  "$(BIN)/costboost fit payments.csv --target fraud --positive yes --cost 'fn=amount+15' --cost fp=5 --save-test held_out.csv -o fraud.costboost" \
	  '$(BIN)/costboost report fraud.costboost held_out.csv -o report.html'

test: $(VENV)/.installed-dev ## Run the tests and the examples in the docstrings
	$(BIN)/python -m pytest -n 2 --dist loadgroup -q $(ARGS)

test-fast: $(VENV)/.installed-dev ## Run the tests that are not slow, for the inner loop (a minute)
	$(BIN)/python -m pytest -n 2 --dist loadgroup -q -m "not slow" tests $(ARGS)

lint: $(VENV)/.installed-dev ## Check style, formatting and spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell

format: $(VENV)/.installed-dev ## Repair style and formatting
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/.installed-dev ## Check types
	$(BIN)/mypy

trust: $(VENV)/.installed-dev ## Kill, fill, load, attack: run what we promise, and keep the counts
	PYTHONPATH=src:tests $(BIN)/python -m trust $(ARGS)
	COSTBOOST_TRUST=1 $(BIN)/python -m pytest -q -m trust tests
	COSTBOOST_TRUST=1 $(BIN)/python -m pytest -q tests/serve/test_openapi.py
	$(BIN)/python docs/build.py tables

test-lower: $(VENV)/.installed-dev ## Run a part of the tests with the oldest dependencies that are allowed
	@set -e; folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; \
	$(call make_venv,$$folder/venv); \
	$(BIN)/python tests/trust/lower_bounds.py > $$folder/lower-bounds.txt; \
	$$folder/venv/bin/python -m pip install --quiet --constraint $$folder/lower-bounds.txt \
		--editable '.[all]' pytest pytest-xdist httpx httpx2 hypothesis psutil; \
	$$folder/venv/bin/python -m pytest -q -p no:cacheprovider $(or $(ARGS),$(LOWER_TESTS))

test-recipes: $(RIVALS_VENV)/.installed ## Run the recipes of docs/recipes.md with the libraries they are about
	$(RIVALS_VENV)/bin/python -m pytest -q -p no:cacheprovider tests/pages/test_examples.py -k test_recipe

sbom: $(VENV)/.installed-dev ## Write build/costboost.cdx.json (CycloneDX) and docs/licences.md
	@mkdir -p build
	@set -e; folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; \
	$(call make_venv,$$folder/venv); \
	$$folder/venv/bin/python -m pip install --quiet '.[all]'; \
	$(BIN)/cyclonedx-py environment --output-reproducible --pyproject pyproject.toml \
		-o build/costboost.cdx.json $$folder/venv/bin/python; \
	{ printf '# Licences\n\n<!-- Written by make sbom; do not edit. -->\n\n'; \
	  printf 'costboost is under BSD-3-Clause. These are the packages that it and its extras need, with\n'; \
	  printf 'the licences that they declare.\n\n'; \
	  $(BIN)/pip-licenses --python $$folder/venv/bin/python --format=markdown --order=name \
	    --ignore-packages costboost; } > docs/licences.md

measure: $(VENV)/.installed-dev ## Count what a reader meets: tokens and habits, and what one call runs through
	$(BIN)/python tools/measure.py src/costboost --against tools/last_release/measure.json
	$(BIN)/python tools/walk.py --against tools/last_release/walk.json

bench: bench-costs bench-speed ## Measure all that a release needs, and write the tables; goes on where it was stopped
	$(BIN)/python docs/build.py tables

bench-costs: $(VENV)/.installed-dev $(RIVALS_VENV)/.installed ## Compare held-out costs with the rivals (hours)
	$(RIVALS_VENV)/bin/python -m benchmarks.held_out_cost release $(ARGS)
	$(BIN)/python -m benchmarks.fair
	$(BIN)/python benchmarks/hidden_costs.py

bench-speed: $(VENV)/.installed-dev $(RIVALS_VENV)/.installed ## Measure speed, memory and the service (an idle machine, an hour)
	$(FREE_THREADS) $(RIVALS_VENV)/bin/python benchmarks/speed.py
	$(FREE_THREADS) $(BIN)/python benchmarks/classifier_speed.py
	$(FREE_THREADS) $(BIN)/python benchmarks/dask_speed.py
	$(FREE_THREADS) $(BIN)/python benchmarks/out_of_core.py
	$(FREE_THREADS) $(BIN)/python benchmarks/decisions_speed.py
	$(FREE_THREADS) $(BIN)/python benchmarks/walk.py
	$(FREE_THREADS) $(BIN)/python benchmarks/serve_load.py

docs: $(VENV)/.installed-dev ## Build the documentation into build/site; warnings are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

docs-serve: $(VENV)/.installed-dev ## Show the documentation on localhost while you write
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

constraints: $(VENV)/.installed-dev ## Write constraints.txt, the versions that developers and CI use
	$(BIN)/python -m pip freeze --exclude-editable > constraints.txt

docs-pages: $(VENV)/.installed-dev ## Write the tables of pages anew; ARGS="outputs docs/start.md": what its code prints
	$(BIN)/python docs/build.py $(or $(ARGS),tables)

clean: ## Remove environments, caches and builds
	rm -rf $(VENV) $(RIVALS_VENV) .numba_cache .mypy_cache .pytest_cache .ruff_cache build dist
	find src tests benchmarks papers -name __pycache__ -type d -prune -exec rm -rf {} +

# Debian splits ensurepip off into python3-venv; where it is missing, the system's pip installs pip.
# pip knows dependency groups since 25.1.
define make_venv
{ test -x $(1)/bin/python || $(PYTHON) -m venv $(1) 2>/dev/null || \
	$(PYTHON) -m venv --clear --without-pip $(1); } && \
{ $(1)/bin/python -m pip --version >/dev/null 2>&1 || \
	$(PYTHON) -m pip --python $(1)/bin/python install --quiet pip; } && \
$(1)/bin/python -m pip install --quiet 'pip>=25.1'
endef

$(VENV)/.installed: pyproject.toml
	@$(call make_venv,$(VENV))
	$(BIN)/python -m pip install --quiet --editable '.[cli]'
	@touch $@

# Not '.[all]': its XGBoost brings CUDA, which nothing here uses; the group dev has one without.
$(VENV)/.installed-dev: pyproject.toml papers/pyproject.toml constraints.txt
	@$(call make_venv,$(VENV))
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group dev \
		--editable '.[cli,high,onnx,serve]' --editable ./papers
	@touch $@ $(VENV)/.installed

$(RIVALS_VENV)/.installed: pyproject.toml papers/pyproject.toml
	@$(call make_venv,$(RIVALS_VENV))
	$(RIVALS_VENV)/bin/python -m pip install --quiet --group rivals --editable . --editable ./papers
	@touch $@
