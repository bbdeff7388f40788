# Every target makes its own environment in .venv; nothing else on the machine is touched.
PYTHON ?= python3
BIN := .venv/bin
THREADS := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1

.DEFAULT_GOAL := help
.PHONY: help check demo examples papers figure test test-slow mutants digests bench compare plates format clean

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable ".[dev]"
	touch $@

# Peers are heavy, so the benchmark has an environment of its own. Torch comes first, pinned, so that
# nothing pulls in another build of it.
.venv-bench/installed: pyproject.toml
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/pip install --quiet --upgrade pip
	.venv-bench/bin/pip install --quiet torch==2.13.0
	.venv-bench/bin/pip install --quiet --editable ".[bench]"
	touch $@

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

check: test test-slow  ## all that a change must pass

demo: .venv/installed  ## optimise 100 000 candidates with 100 000 evaluations and draw the regret
	$(THREADS) $(BIN)/python -m examples.demo

figure: .venv/installed  ## the picture of the README
	$(THREADS) $(BIN)/python -m examples.demo --out docs/results/demo.png

test: .venv/installed  ## format, lint, types and the default tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(THREADS) $(BIN)/pytest -n 2 -q -m "not slow"

test-slow: .venv/installed .venv-bench/installed  ## what `make test` leaves out: long tests, properties on many cases, evaluation and its peers
	$(THREADS) NOREGRET_CASES=many $(BIN)/pytest -n 2 -q -m "slow or hypothesis" --ignore tests/evaluation/test_quick_sizes.py
	$(THREADS) .venv-bench/bin/pytest -q tests/evaluation/test_quick_sizes.py \
		tests/evaluation/methods/test_peers.py tests/evaluation/methods/test_by_plate.py

mutants: .venv/installed  ## plant errors one at a time; each must be caught by a named test
	$(THREADS) $(BIN)/python tests/mutants.py

digests: .venv/installed  ## what every algorithm chooses, against tests/digests/digests.json (seconds)
	$(THREADS) $(BIN)/python tests/digests

examples: .venv/installed  ## real problems, a page each; data in ../shared/data or NOREGRET_DATA
	for name in molecules reactions prints housing architectures hyperparameters ads; do \
		$(THREADS) $(BIN)/python -m examples.$$name || exit 1; done

papers: .venv/installed  ## the papers' figures, in docs (hours; PAPERS="--quick" for minutes)
	$(BIN)/python -m evaluation.papers $(PAPERS)

bench: .venv-bench/installed  ## measure everything: docs/results/benchmarks.md (hours; BENCH="mini --quick" for less)
	.venv-bench/bin/python -m evaluation.speed $(BENCH)

compare: .venv-bench/installed  ## default settings against others: docs/results/comparison.md (hours; COMPARE="--quick" for minutes)
	.venv-bench/bin/python -m evaluation.comparison $(COMPARE)

plates: .venv-bench/installed  ## many at a time, ours and others: docs/results/plates.md (days for all; PLATES="--quick" for minutes)
	.venv-bench/bin/python -m evaluation.plates $(PLATES)

format: .venv/installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf .venv .venv-bench build dist evaluation/out examples/out
