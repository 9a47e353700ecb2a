# Everything a developer types. The virtual environments make themselves; `make help` lists targets.

PYTHON ?= python3
VENV := .venv
BENCH_VENV := .venv-bench
LOWER_VENV := .venv-lower
RIVALS_VENV := .venv-rivals
USER_VENV := .venv-user
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
.PHONY: help run test test-fast test-lower lint format types house trust sbom constraints bench bench-cost bench-rivals bench-again bench-scale bench-serve evidence docs docs-serve docs-pages clean

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
	COSTBOOST_TRUST=1 $(BIN)/python -m pytest -q tests/serve/test_workers.py tests/serve/test_openapi.py
	$(BIN)/python docs/build.py tables

test-lower: $(LOWER_VENV)/.installed ## Run a part of the tests with the oldest dependencies that are allowed
	$(LOWER_VENV)/bin/python -m pytest -q -p no:cacheprovider $(or $(ARGS),$(LOWER_TESTS))

sbom: $(VENV)/.installed-dev $(USER_VENV)/.installed ## Write build/costboost.cdx.json (CycloneDX) and docs/licences.md
	@mkdir -p build
	$(BIN)/cyclonedx-py environment --output-reproducible --pyproject pyproject.toml \
		-o build/costboost.cdx.json $(USER_VENV)/bin/python
	@{ printf '# Licences\n\n<!-- Written by make sbom; do not edit. -->\n\n'; \
	  printf 'costboost is under BSD-3-Clause. These are the packages that it and its extras need, with\n'; \
	  printf 'the licences that they declare.\n\n'; \
	  $(BIN)/pip-licenses --python $(USER_VENV)/bin/python --format=markdown --order=name \
	    --ignore-packages costboost; } > docs/licences.md

house: $(VENV)/.installed-dev ## Count lines by room, and the types, functions and files of one fit
	$(BIN)/python tools/house.py $(ARGS)

bench: $(BENCH_VENV)/.installed ## Measure speed against LightGBM, scikit-learn and the rivals
	$(FREE_THREADS) $(BENCH_VENV)/bin/python benchmarks/speed.py $(ARGS)

bench-cost: $(BENCH_VENV)/.installed ## Compare held-out costs with the rivals (half an hour)
	$(BENCH_VENV)/bin/python -m benchmarks.held_out_cost $(ARGS)

bench-rivals: $(RIVALS_VENV)/.installed ## Add AutoGluon, CatBoost, VW, ... to the held-out costs (hours)
	$(RIVALS_VENV)/bin/python -m benchmarks.held_out_cost --rivals $(ARGS)

bench-again: $(VENV)/.installed-dev $(BENCH_VENV)/.installed ## Compute a sample of the kept rows again, and compare
	$(BENCH_VENV)/bin/python -m benchmarks.again held_out_cost
	$(BIN)/python -m benchmarks.again fair papers

bench-scale: $(VENV)/.installed-dev ## Measure CostBoostClassifier: speed, memory, cluster
	$(FREE_THREADS) $(BIN)/python benchmarks/classifier_speed.py
	$(FREE_THREADS) $(BIN)/python benchmarks/dask_speed.py
	$(FREE_THREADS) $(BIN)/python benchmarks/out_of_core.py
	$(BIN)/python docs/build.py tables

evidence: $(VENV)/.installed-dev ## Measure all that is older than the code, cheapest first; goes on where it was stopped
	$(BIN)/python -m benchmarks.evidence $(ARGS)

docs: $(VENV)/.installed-dev ## Build the documentation into build/site; warnings are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

docs-serve: $(VENV)/.installed-dev ## Show the documentation on localhost while you write
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

constraints: $(VENV)/.installed-dev ## Write constraints.txt, the versions that developers and CI use
	$(BIN)/python -m pip freeze --exclude-editable > constraints.txt

docs-pages: $(VENV)/.installed-dev ## Write the tables of pages anew; ARGS="outputs docs/start.md": what its code prints
	$(BIN)/python docs/build.py $(or $(ARGS),tables)

bench-serve: $(VENV)/.installed-dev ## Load the scoring service on loopback, beside a bare handler
	$(FREE_THREADS) $(BIN)/python benchmarks/serve_load.py

clean: ## Remove environments, caches and builds
	rm -rf $(VENV) $(BENCH_VENV) $(LOWER_VENV) $(RIVALS_VENV) $(USER_VENV) .numba_cache .mypy_cache .pytest_cache .ruff_cache build dist
	find src tests benchmarks papers -name __pycache__ -type d -prune -exec rm -rf {} +

# Debian splits ensurepip off into python3-venv; where it is missing, the system's pip installs pip.
define make_venv
@test -x $(1)/bin/python || $(PYTHON) -m venv $(1) 2>/dev/null || \
	$(PYTHON) -m venv --clear --without-pip $(1)
@$(1)/bin/python -m pip --version >/dev/null 2>&1 || \
	$(PYTHON) -m pip --python $(1)/bin/python install --quiet pip
endef

$(VENV)/.installed: pyproject.toml
	$(call make_venv,$(VENV))
	$(BIN)/python -m pip install --quiet --editable '.[data,report]'
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt papers/pyproject.toml
	$(call make_venv,$(VENV))
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]' --editable ./papers
	@touch $@ $(VENV)/.installed

$(BENCH_VENV)/.installed: pyproject.toml
	$(call make_venv,$(BENCH_VENV))
	$(BENCH_VENV)/bin/python -m pip install --quiet --editable '.[bench]' --editable ./papers
	@touch $@

$(RIVALS_VENV)/.installed: pyproject.toml
	$(call make_venv,$(RIVALS_VENV))
	$(RIVALS_VENV)/bin/python -m pip install --quiet --editable '.[rivals]' --editable ./papers
	@touch $@

$(USER_VENV)/.installed: pyproject.toml
	$(call make_venv,$(USER_VENV))
	$(USER_VENV)/bin/python -m pip install --quiet '.[all]'
	@touch $@

$(LOWER_VENV)/.installed: pyproject.toml tests/trust/lower_bounds.py
	$(call make_venv,$(LOWER_VENV))
	@mkdir -p build
	$(PYTHON) tests/trust/lower_bounds.py > build/lower-bounds.txt
	$(LOWER_VENV)/bin/python -m pip install --quiet --constraint build/lower-bounds.txt \
		--editable '.[all]' pytest pytest-xdist httpx hypothesis psutil
	@touch $@
