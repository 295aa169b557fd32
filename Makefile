# Everything starts here: `make help`. Needs Python 3.11 or newer (with venv) and make; the rest is installed
# into .venv, once, and again when pyproject.toml changes. PYTHON=/path/to/python chooses another interpreter.
SHELL := /bin/sh
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

BIN := .venv/bin
PY := $(BIN)/python
ARGS ?=

# The wheel of pyright carries pyright, and its `nodejs` extra carries node: nothing is fetched at run time.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Images set it; thousands of processes would each compile what they import.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test unit soak soak-tests check lint format-check mypy pyright floors format bench faces gold torture fuzz clean distclean tree setup FORCE

help:  ## List what can be made
	@grep -E '^[a-z-]+:.*  ## ' Makefile | sed -E 's/^([a-z-]+):.*  ## /\1	/' | \
	  while IFS='	' read -r name text; do printf '  make %-10s %s\n' "$$name" "$$text"; done

demo: .venv/.runtime  ## Install what is needed and run the guided tour
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh

PYTEST = $(PY) -m pytest --numprocesses auto --dist worksteal

test: .venv/.dev  ## Install what is needed and run the tests (ARGS='-k recall' and the like are passed on)
	@$(PYTEST) -m 'not soak' --durations 15 --durations-min 5 $(ARGS)

unit: .venv/.dev  ## Run the tests that start no process and never sleep (ARGS are passed on)
	@$(PYTEST) -m 'not soak' tests/unit $(ARGS)

soak: soak-tests  ## Run what `make test` leaves out, look further for examples, then torture and fuzz for some minutes each
	@HYPOTHESIS_PROFILE=soak $(PYTEST) -m 'hypothesis and not soak'
	@$(MAKE) torture ARGS='--minutes 10'
	@$(MAKE) fuzz ARGS=

soak-tests: .venv/.dev  ## Run the tests that `make test` leaves out (ARGS='--minutes 3' ends it early)
	@$(PY) -m pytest --numprocesses auto --dist load --maxschedchunk 1 -m soak $(ARGS)

check: lint format-check mypy pyright floors  ## Run the static checks (-k goes on after the first failure)

lint: .venv/.dev
	@echo 'ruff check' && $(PY) -m ruff check --quiet --output-format concise .

format-check: .venv/.dev
	@echo 'ruff format --check' && $(PY) -m ruff format --check --quiet --output-format concise .

mypy: .venv/.dev tree
	@echo 'mypy --strict' && $(PY) -m mypy --no-error-summary

pyright: .venv/.dev tree
	@echo 'pyright (strict)' && { out=$$($(PY) -m pyright --pythonpath $(PY) 2>&1) || \
	  { printf '%s\n' "$$out"; exit 1; }; }

floors: .venv/.dev tree
	@echo 'lint-imports' && { out=$$(PYTHONPATH=build/tree $(BIN)/lint-imports 2>&1) || \
	  { printf '%s\n' "$$out" | sed '/[╔╚║└┘]/d'; exit 1; }; }

format: .venv/.dev  ## Rewrite the sources in the house's format
	@$(PY) -m ruff check --quiet --fix . ; $(PY) -m ruff format --quiet .

faces: .venv/.dev  ## Write Store, AsyncStore and the JSON Schemas from the registry of operations
	@$(PY) -m braid.tools.lab.faces $(ARGS)

bench: .venv/.runtime  ## Measure append, verify, replay and reads on this machine (ARGS are passed on)
	@$(PY) -m braid.tools.lab.bench $(ARGS)

gold: .venv/.dev  ## Ask the gold tasks, and fail where answers got worse (ARGS are passed on)
	@$(PY) -m braid.tools.lab.gold --check $(ARGS)

torture: .venv/.runtime  ## Kill a writer again and again and verify what is left (ARGS are passed on)
	@$(PY) -m braid.tools.lab.torture $(ARGS)

fuzz: .venv/.dev  ## Fuzz the parsers against strangers' (ARGS are passed on; installs atheris)
	@$(PY) -c 'import atheris' 2>/dev/null || { command -v uv >/dev/null && uv pip install --quiet --python $(PY) -e '.[fuzz]'; } || \
	  $(PY) -m pip install --quiet -e '.[fuzz]'
	@$(PY) -m tests.system.fuzz $(ARGS)

setup: .venv/.dev  ## Only install, with the development tools

clean:  ## Remove what was built (not .venv)
	@rm -rf build dist ./*.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name .venv -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean  ## Remove .venv too
	@rm -rf .venv

# Static checkers can't follow the mapping of pyproject.toml (rooms at the root, `braid.wal` = wal/), so they are
# shown a plain package made of links. It is made anew each time, since a room that has left must not linger, and
# under a lock: two at once would put links into the rooms themselves.
ROOMS = $(filter-out api tests docs examples,$(patsubst %/__init__.py,%,$(wildcard */__init__.py)))
tree:
	@mkdir -p build && flock build sh -ec '\
	  link() { ln -sn "../../../$$1" "build/tree/braid/$$2"; }; \
	  rm -rf build/tree; mkdir build/tree build/tree/braid; \
	  for room in $(ROOMS); do link "$$room" "$$room"; done; \
	  for file in api/*.py api/py.typed; do link "$$file" "$${file#api/}"; done; \
	  for subject in api/*/__init__.py; do subject=$${subject%/*}; link "$$subject" "$${subject#api/}"; done'

# Each stamp is written last, so an interrupted set-up is done again. A .venv whose interpreter has gone, or whose
# folder has been moved or copied (its scripts name the old path), is made anew.
ifneq ($(shell $(PY) -c '' 2>/dev/null && cat .venv/.home 2>/dev/null),$(CURDIR))
.venv/.runtime .venv/.dev: FORCE
endif

.venv/.runtime: pyproject.toml
	@sh -eu -c "$$SETUP" setup '.[answers,learn]'

.venv/.dev: pyproject.toml
	@sh -eu -c "$$SETUP" setup '.[dev]'

define SETUP
fail() { echo >&2; printf '%s\n' "$$@" >&2; exit 1; }

recent='import sys; raise SystemExit(sys.version_info < (3, 11))'
python= older=
for candidate in $${PYTHON:-python3 python3.13 python3.12 python3.11 python3.14}; do
  command -v "$$candidate" >/dev/null 2>&1 || continue
  if "$$candidate" -c "$$recent" >/dev/null 2>&1; then python=$$candidate; break; fi
  older=$${older:-$$("$$candidate" --version 2>&1 || true)}
done
[ -n "$$python" ] || fail \
  "Braid needs Python 3.11 or newer; $${older:-no python3} was found." \
  "Debian 12 or newer, Ubuntu 24.04 or newer:  sudo apt install python3 python3-venv" \
  "Or name one that is elsewhere:              make PYTHON=/path/to/python3.11 ..."

uv=$$(command -v uv || true)
if [ "$$(cat .venv/.home 2>/dev/null)" != "$$PWD" ] || ! .venv/bin/python -c "$$recent" 2>/dev/null ||
   { [ -z "$$uv" ] && ! .venv/bin/python -m pip --version >/dev/null 2>&1; }; then
  rm -rf .venv
  if [ -n "$$uv" ]; then
    echo "Setting up .venv with uv (once) ..."
    uv venv --quiet --no-python-downloads --python "$$(command -v "$$python")" .venv
  else
    echo "Setting up .venv (once; a minute or so) ..."
    if ! said=$$("$$python" -m venv .venv 2>&1); then
      rm -rf .venv
      case $$python in */*) package=python3-venv ;; *) package=$$python-venv ;; esac
      case $$said in
        *ensurepip* | *"No module named venv"*) fail \
          "$$python cannot make a virtual environment: its venv module is not complete." \
          "On Debian and Ubuntu:  sudo apt install $$package" \
          "Then run make again." ;;
        *) fail "$$python -m venv .venv failed:" "$$said" ;;
      esac
    fi
  fi
  printf '%s\n' "$$PWD" > .venv/.home
else
  echo "Updating .venv ..."
fi

if [ -n "$$uv" ]; then
  uv pip install --quiet --python .venv/bin/python --editable "$$1"
else
  .venv/bin/python -m pip install --quiet --editable "$$1"
fi || fail "The packages could not be installed. Can this machine reach the package index (https://pypi.org)?"
touch .venv/.runtime
[ "$$1" != '.[dev]' ] || touch .venv/.dev
endef
export SETUP
