# Everything runs in .venv, built from the lock file. PYTHON may be any Python from 3.11 on.
PYTHON ?= python3
ifeq ($(OS),Windows_NT)
SHELL := sh.exe
SCRIPTS := Scripts
else
SCRIPTS := bin
endif
BIN := .venv/$(SCRIPTS)
STAMP := .venv/.installed

.DEFAULT_GOAL := help
.PHONY: help install check test test-fast test-long coverage dist smoke demo reproduce bench growth bench-peers revisions \
  league readings mutate slow log-study serve-study browser lockstep fuzz site gallery lock test-lowest \
  test-peers matrix release-check clean

help:  ## what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

install: $(STAMP)  ## build .venv with everything for development

$(STAMP): requirements-dev.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "rotting needs Python 3.11 or later; try: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

check: $(STAMP)  ## ruff, mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: $(STAMP) browser  ## the tests, doctests included; without what is marked long
	$(BIN)/python -m pytest -n 2

# What one runs after an edit: plain Python in the main, and every rule against its naive twin.
FAST := $(addprefix tests/,bandits catalogue ground kernel live models policies theory test_house.py)
test-fast: $(STAMP)  ## after an edit: rules, models and theory
	$(BIN)/python -m pytest -n 2 -k "not (compiled or cpu or extremes or advice or test_fatigue or families)" $(FAST)

test-long: $(STAMP) browser  ## all tests, the long ones as well, compiled as users have it
	NUMBA_OPT=3 $(BIN)/python -m pytest -n 2 -m "long or not long"

# The dashboard is tested in a real browser: Debian's, where it may be installed; else tests skip.
browser:
	@command -v chromium > /dev/null || command -v chromium-browser > /dev/null || \
	  command -v google-chrome > /dev/null || \
	  { test "$$(id -u)" = 0 && command -v apt-get > /dev/null && \
	    apt-get install -y -qq --no-install-recommends chromium > /dev/null 2>&1; } || \
	  echo "no Chromium here, and none could be installed: tests of the dashboard skip"

coverage: $(STAMP)  ## all tests, and which lines and branches they do not reach
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term-missing:skip-covered

fuzz: $(STAMP)  ## ten million damaged and forged files: make fuzz INPUTS=10000000
	$(BIN)/python tests/fuzz.py --inputs $(or $(INPUTS),10000000) --compiled 0.02

dist: $(STAMP)  ## the sdist, and the wheel built from it, in dist/, checked by twine
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist . > /dev/null
	$(BIN)/python -m twine check --strict dist/*

smoke: dist  ## the sdist has its tests; the wheel alone, in a new environment, plays a demo
	$(BIN)/python .ci/sdist.py dist/*.tar.gz
	rm -rf .venv-wheel
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/$(SCRIPTS)/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	mkdir .venv-wheel/empty && cd .venv-wheel/empty && ../$(SCRIPTS)/rotting demo --runs 2 --out demo.png

matrix: dist  ## the wheel alone on Python 3.11 to 3.13, with the oldest and the newest dependencies
	$(BIN)/python .ci/matrix.py

release-check: $(STAMP)  ## all that must hold before a release, or some: make release-check STEPS="papers dist"
	$(BIN)/python .ci/release.py $(STEPS)

demo: $(STAMP)  ## the paper's non-parametric scenario: a table and a picture
	$(BIN)/rotting demo --out out/demo.png

reproduce: $(STAMP)  ## the paper, reproduced: out/levine2017/report.html
	$(BIN)/rotting reproduce levine2017 --force

growth: $(STAMP)  ## cost of a decision against K, T and Theta, drawn
	$(BIN)/python benchmarks/growth.py

bench-peers: $(STAMP)  ## other libraries and ours, in one run
	$(BIN)/python benchmarks/peers.py

league: $(STAMP)  ## every policy on every scenario
	$(BIN)/rotting league --out out/league --force

bench: $(STAMP)  ## what a decision costs, simulated, online, on two threads; how soon things start
	@status=0; for what in decisions where online scaling startup compiling; do \
	  $(BIN)/python benchmarks/$$what.py || { echo "$$what: not all within its limits"; status=1; }; \
	done; exit $$status

readings: $(STAMP)  ## the evidence in docs/paper/readings.md
	$(BIN)/python benchmarks/swucb_constant.py
	$(BIN)/python benchmarks/table1_seeds.py
	$(BIN)/python benchmarks/readings.py

mutate: $(STAMP)  ## small faults put into the code: how many do the tests notice?
	$(BIN)/python tests/mutate.py

log-study: $(STAMP)  ## can a diagnosis be believed? made-up logs whose truth is known (half an hour)
	$(BIN)/python benchmarks/log_study.py
	$(BIN)/python benchmarks/replay_coverage.py
	$(BIN)/python benchmarks/unequal_users.py

serve-study: $(STAMP)  ## can the service be believed? kills, power losses, duplicates, a day, speed (two hours)
	$(BIN)/python benchmarks/serving.py
	$(BIN)/python benchmarks/serve_attacks.py
	$(BIN)/python benchmarks/serve_day.py
	$(BIN)/python benchmarks/serve_power.py
	$(BIN)/python benchmarks/serve_duplicates.py
	$(BIN)/python benchmarks/serve_kills.py
	$(BIN)/python tests/serve/drive.py --steps 100000
	$(BIN)/python tests/serve/schema.py --examples 300

slow: test-long league growth bench-peers readings log-study serve-study  ## what takes long: all tests, league, growth, peers, readings, logs, the service

lockstep: $(STAMP)  ## ten million steps of compiled and plain players side by side (an hour)
	$(BIN)/python tests/lockstep.py --steps $(or $(STEPS),10000000) --seed $(or $(SEED),0)

revisions: $(STAMP)  ## is this tree slower than OLD? make revisions OLD=HEAD~1
	$(BIN)/python benchmarks/revisions.py $(or $(OLD),HEAD) .

# Warnings are errors, and so is a link that leads nowhere (docs/making/checking.py). The variable
# silences the theme's announcement of its successor.
site: $(STAMP)  ## the site, to be read without a network: out/site/index.html
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet

gallery: $(STAMP)  ## the gallery's pictures, made anew by its notebooks
	$(BIN)/python docs/making/gallery.py

lock: $(STAMP)  ## renew requirements-dev.lock from pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate \
	  --extra frames --extra logs --extra serve --group dev -o requirements-dev.lock pyproject.toml

test-lowest:  ## the tests with the oldest dependencies that pyproject.toml allows, and new tools
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/$(SCRIPTS)/python -m pip install --quiet uv
	.venv-lowest/$(SCRIPTS)/uv pip install --quiet --python .venv-lowest/$(SCRIPTS)/python \
	  --resolution lowest-direct -e ".[frames,logs,serve]"
	.venv-lowest/$(SCRIPTS)/uv pip install --quiet --python .venv-lowest/$(SCRIPTS)/python --group dev
	.venv-lowest/$(SCRIPTS)/python -m pytest -n 2

# SMPyBandits needs an older scipy than river does.
test-peers:  ## what docs/guides/coming-from.md says of other libraries, seen in theirs
	for theirs in "river==0.26.1 mabwiser==2.7.4" "SMPyBandits==0.9.7 scipy<1.14"; do \
	  rm -rf .venv-peers && $(PYTHON) -m venv .venv-peers && \
	  .venv-peers/$(SCRIPTS)/python -m pip install --quiet --disable-pip-version-check -e . pytest $$theirs && \
	  .venv-peers/$(SCRIPTS)/python -m pytest -rs tests/test_coming_from.py || exit 1; \
	done

clean:  ## remove what was built
	rm -rf .venv .venv-lowest .venv-peers .venv-wheel out build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*
	find . -name __pycache__ -prune -exec rm -rf {} +
