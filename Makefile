# Every target sets itself up: Python 3.11+, make and the package index are all that is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Container images set this. Without bytecode each process compiles our modules again: a third of a
# worker's start, and tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo crash test long cover check lint chaos chaos-long partitions fuzz bench eval peers cluster cluster-build cluster-test gameday helm client licences frozen released packages sbom audit lock bundles clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | sort

demo: $(VENV)/.runs  ## run a question over the documents that come with Holdfast
	@$(BIN)/holdfast demo

crash: $(VENV)/.runs  ## the same, with its worker killed in mid-run, and a receipt of what that cost
	@$(BIN)/holdfast demo --crash

test: $(VENV)/.tests lint  ## linters, types, contracts, and all tests but the long ones
	$(BIN)/pytest $(SIDE_BY_SIDE) -q || $(BIN)/python -m tests.support.second_run

long: $(VENV)/.tests  ## the tests that `test` leaves out: benchmarks, evaluations, faults at every place, more whole jobs
	$(BIN)/pytest $(SIDE_BY_SIDE) -q -m long

cover: $(VENV)/.tests  ## the tests of `test`, and which lines none of them runs
	$(BIN)/pytest $(SIDE_BY_SIDE) --cov --cov-report=term:skip-covered -q

check: $(VENV)/.tests lint  ## the fast part, under two minutes
	$(BIN)/pytest $(SIDE_BY_SIDE) -q -m "not slow and not long"

lint: $(VENV)/.tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry . >/dev/null 2>&1 || $(BIN)/deptry .
	$(BIN)/codespell

# Most tests wait for services: three files at once, each process with services of its own.
SIDE_BY_SIDE := -n 3 --dist loadfile

# Rounds of chaos, and what all dice hang on.
N ?= 100
SEED ?= 1
SECONDS ?= 600
API_SECONDS ?= 1200

chaos: $(VENV)/.tests  ## disturb jobs at random in eleven ways; N=100 rounds, SEED=1
	$(BIN)/python -m tests.durability.chaos --rounds $(N) --seed $(SEED)

chaos-long: $(VENV)/.tests  ## twenty minutes of it, SEED=1
	$(BIN)/python -m tests.durability.chaos --rounds 10000 --minutes 20 --seed $(SEED)

partitions: $(VENV)/.tests  ## cut hosts off from PostgreSQL, Temporal or both in the middle of a call; ten minutes (Linux, as root)
	$(BIN)/pytest tests/durability/test_partitions.py -m long -q

fuzz: $(VENV)/.tests  ## fuzz the API, API_SECONDS=1200, and the readers of foreign text (Linux); SECONDS=600 for each
	$(BIN)/pytest tests/holdfast/api/test_generated_requests.py --fuzz-seconds $(API_SECONDS) -q
	$(BIN)/python -m tests.fuzzing --seconds $(SECONDS)

bench: $(VENV)/.tests $(VENV)/peers/.made  ## measure; figures go to docs/performance.md
	$(BIN)/python -m benchmarks

eval: $(VENV)/.tests  ## renew the small tables of docs/evaluation.md; DATA=file in HotpotQA's format
	$(BIN)/python -m holdfast.evals $(DATA)

peers: $(VENV)/.tests $(VENV)/peer-agents/.made  ## compare with other agents over MODEL=name at OPENAI_BASE_URL
	$(BIN)/python -m holdfast.evals.peers --model $(MODEL)

# What tests use is what is installed: the first lock sets the versions of the others.
LOCK := uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
    -q --upgrade

client: $(VENV)/.tests  ## make the synchronous client from the asynchronous one
	$(BIN)/python -m tests.support.packages.synchronous_client

licences: $(VENV)/.tests  ## renew the table of docs/licences.md
	$(BIN)/python -m tests.support.release.licence_page

sbom: $(VENV)/.tests  ## list the packages of a release in CycloneDX, in build/holdfast.cdx.json
	@mkdir -p build
	@$(BIN)/cyclonedx-py requirements requirements-all.lock --pyproject pyproject.toml \
	    --output-reproducible -o build/holdfast.cdx.json

frozen: $(VENV)/.tests  ## renew the recordings of frozen names (docs/stability.md)
	$(BIN)/python -m tests.support.release.frozen_interfaces

bundles: $(VENV)/.tests  ## record the jobs again that `holdfast replay` compares in the tests
	$(BIN)/python -m tests.replay.bundle_recording

released: frozen  ## record what this version freezes: its names, and an installation of it
	$(BIN)/pytest tests/upgrades --record -k today -q

packages: sbom  ## build wheel and sdist into an empty dist/, with the SBOM and all hashes
	rm -rf dist
	$(BIN)/hatchling build
	cp build/holdfast.cdx.json dist/
	cd dist && sha256sum * > SHA256SUMS

# Strict: a package that PyPI's service does not know, as behind a mirror, is not one without a fault.
audit: $(VENV)/release/.made  ## look for known vulnerabilities of the locked packages (asks PyPI)
	$(VENV)/release/bin/pip-audit --strict --disable-pip --require-hashes -r requirements-all.lock

# The modules and their sums are in deploy/cluster; the build takes minutes, once.
GO ?= $(or $(shell command -v go),/usr/local/go/bin/go)
CLUSTER := $(CURDIR)/build/cluster

cluster-build: $(CLUSTER)/schema  ## build Temporal's server from its Go modules (needs Go)

$(CLUSTER)/schema: deploy/cluster/go.sum
	@mkdir -p $(CLUSTER)
	cd deploy/cluster && $(GO) build -trimpath -o $(CLUSTER)/temporal-server go.temporal.io/server/cmd/server
	cd deploy/cluster && $(GO) build -trimpath -o $(CLUSTER)/temporal-sql-tool go.temporal.io/server/cmd/tools/sql
	@rm -rf $@ && cp -r "$$(cd deploy/cluster && $(GO) list -m -f '{{.Dir}}' go.temporal.io/server)/schema/postgresql/v12" $@
	@chmod -R u+w $@ && touch $@

# Modules are checked against Go's database of sums; the version is this.
HELM := $(CURDIR)/build/helm
HELM_VERSION := v3.18.6

$(HELM)/helm:
	@mkdir -p $(HELM)
	GOBIN=$(HELM) $(GO) install -trimpath helm.sh/helm/v3/cmd/helm@$(HELM_VERSION)

helm: $(VENV)/.tests $(HELM)/helm  ## render the chart, and check it against the types of Kubernetes (needs Go)
	$(HELM)/helm lint deploy/helm/holdfast -f deploy/helm/example-values.yaml
	$(HELM)/helm template research deploy/helm/holdfast -f deploy/helm/example-values.yaml \
	    > deploy/helm/rendered-example.yaml
	$(BIN)/kubernetes-validate --strict deploy/helm/rendered-example.yaml

cluster: $(VENV)/.tests cluster-build  ## the demo on four Temporal services, two servers, WORKERS=2
	@$(BIN)/python -m tests.support.services.run_cluster --workers $(or $(WORKERS),2)

cluster-test: $(VENV)/.tests cluster-build  ## kill and replace a real Temporal cluster under jobs
	$(BIN)/pytest tests/cluster -m long -q

gameday: $(VENV)/.tests cluster-build  ## play faults on a real cluster, and print what users notice
	@$(BIN)/python -m tests.support.services.run_gameday

lock:  ## renew the locked dependencies (needs uv)
	$(LOCK) pyproject.toml --all-extras --group dev -o requirements-dev.lock
	$(LOCK) pyproject.toml --all-extras -c requirements-dev.lock -o requirements-all.lock
	$(LOCK) pyproject.toml -c requirements-dev.lock -o requirements.lock
	$(LOCK) --group bench -c requirements-dev.lock -o requirements-bench.lock
	$(LOCK) --group peers -c requirements-dev.lock -o requirements-peers.lock
	$(LOCK) --group release -c requirements-dev.lock -o requirements-release.lock

clean:  ## remove the virtual environment and what was built
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "Holdfast needs Python 3.11 or newer; say which with make PYTHON=python3.12"; exit 1; }
	@echo "setting up $(VENV) (once; about a minute)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.runs: $(VENV)/.made requirements.lock pyproject.toml
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --require-hashes \
	    -r requirements.lock
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps -e .
	@touch $@

$(VENV)/.tests: $(VENV)/.runs requirements-dev.lock
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --require-hashes \
	    -r requirements-dev.lock
	@touch $@

$(VENV)/peers/.made: $(VENV)/.made requirements-bench.lock
	@$(PYTHON) -m venv --clear $(VENV)/peers
	@$(VENV)/peers/bin/python -m pip install -q --disable-pip-version-check --no-deps \
	    --require-hashes -r requirements-bench.lock
	@touch $@

$(VENV)/peer-agents/.made: $(VENV)/.made requirements-peers.lock
	@$(PYTHON) -m venv --clear $(VENV)/peer-agents
	@$(VENV)/peer-agents/bin/python -m pip install -q --disable-pip-version-check --no-deps \
	    --require-hashes -r requirements-peers.lock
	@touch $@

$(VENV)/release/.made: $(VENV)/.made requirements-release.lock
	@$(PYTHON) -m venv --clear $(VENV)/release
	@$(VENV)/release/bin/python -m pip install -q --disable-pip-version-check --no-deps \
	    --require-hashes -r requirements-release.lock
	@touch $@
