# Acta: make demo shows it, make test tests it. Everything else is under `make help`.

SHELL := /bin/bash
MAKEFLAGS += --no-print-directory
export TZ := UTC
export PYTHONUTF8 := 1
export PYTHONNOUSERSITE := 1
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
DIST := dist
PACKAGED := acta/infra/packaging/locks
UV_COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-header --no-annotate
# what AWS's Python runtime brings along, so no zip carries it
FROM_RUNTIME := $(addprefix --no-emit-package ,boto3 botocore s3transfer python-dateutil six urllib3)

.PHONY: help setup demo house test test-thorough test-local-aws test-api test-model test-mcp test-traces faults mixed-fleet check format bench load scale picture lock audit \
	sbom dist clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 16

setup: ## make .venv, .venv-emulator, .venv-runtime and the CDK command line
	@python=$$(acta/infra/local/preflight.sh) && "$$python" acta/infra/toolchain.py

demo: setup ## a real agent run on a local AWS, from deploy to the finished file
	@$(BIN)/acta demo

test: setup ## the tests, the deployed end-to-end ones included, in 10 minutes
	@$(BIN)/python -m acta.infra.toolchain api
	@$(BIN)/python -m acta.infra.toolchain browser
	@$(BIN)/pytest --numprocesses 3 -m "not thorough"

test-thorough: setup ## what `test` has a sample of: the rest of the local AWS's contract, every provider's wire
	@$(BIN)/python -m acta.infra.toolchain api
	@$(BIN)/python -m acta.infra.toolchain browser
	@$(BIN)/pytest --numprocesses 3 -m thorough

test-local-aws: setup ## the tests of the local AWS alone, which is a product of its own
	@$(BIN)/pytest tests/local_aws

test-api: setup ## schemathesis asks a deployed API whatever its document allows and forbids, 10 minutes
	@$(BIN)/python -m acta.infra.toolchain api
	@ACTA_TEST_API=1 $(BIN)/pytest tests/e2e/api/test_schemathesis.py -s

test-model: setup ## the provider's protocol against a real server with a real small model
	@ACTA_TEST_MODEL=1 $(BIN)/pytest tests/real_model

test-mcp: setup ## the conformance suite of MCP and its official clients against a deployed stack
	@$(BIN)/pytest tests/mcp

test-traces: setup ## traces of the deployed stack in Arize Phoenix, a receiver that is not ours
	@ACTA_TEST_TRACES=1 $(BIN)/pytest tests/phoenix

faults: setup ## kills every Lambda at every call, with turns apart and fused; takes each service away (ONLY="step:PutItem outage:s3")
	@$(BIN)/python -m tests.faults $(ONLY)

mixed-fleet: setup ## Lambdas of this release and of one after it, side by side on one local stack
	@$(BIN)/pytest tests/releases -v

house: setup ## how the sources stand: lines by room, names that stand twice, the ways of a request, what a change costs (STORE=1 stores it)
	@$(BIN)/python -m tests.structure $(if $(STORE),store)

check: setup ## format, lint, types, import arrows, and that no figure of the house is worse than the stored one
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/python -m acta.infra.document.committed --check
	@$(BIN)/python -m docs.command_line --check
	@$(BIN)/lint-imports --no-cache >build/lint-imports.txt || { cat build/lint-imports.txt; exit 1; }
	@$(BIN)/python -m tests.structure check >/dev/null
	@echo "check: fine"

generate: setup ## write the files that are made from the tables: methods of the client, schemas of definitions, reference pages
	@$(BIN)/python -m acta.infra.document.committed
	@$(BIN)/python -m docs.command_line

format: setup ## rewrite files in the house's format
	@$(BIN)/ruff format --quiet .
	@$(BIN)/ruff check --quiet --fix .

scale: setup ## at how many sessions a day each quota is used up; docs/scale.md explains it (WITH="peak=5 region=us-east-1")
	@$(BIN)/python -m docs.scale $(WITH)

bench: setup ## exact cost and speed figures, also in build/bench.json (ONLY="prefix cancels" for some)
	@$(BIN)/python -m tests.bench $(ONLY)

load: setup ## 500 sessions at once on the local AWS, a tenant that floods it, 10,000 in the index, 10 minutes
	@$(BIN)/python -m tests.bench load

picture: setup ## the README's pictures: docs/demo.svg from a real demo, the page's from sessions that ran, the charts (FIGURES=build/bench.json for new ones)
	@$(BIN)/python docs/charts.py $(FIGURES)
	@$(BIN)/python docs/picture.py
	@$(BIN)/python -m acta.infra.toolchain browser
	@$(BIN)/python -m docs.page_pictures

lock: setup ## resolve the requirements anew (add UPGRADE=--upgrade for newer versions)
	@$(UV_COMPILE) $(UPGRADE) requirements/uv.in -o requirements/uv.txt
	@$(UV_COMPILE) $(UPGRADE) requirements/dev.in -o requirements/dev.txt
	@$(UV_COMPILE) $(UPGRADE) acta/local_aws/requirements.in -o acta/local_aws/requirements.txt
	@$(UV_COMPILE) $(UPGRADE) -c requirements/dev.txt $(PACKAGED)/runtime.in -o $(PACKAGED)/runtime.txt
	@$(UV_COMPILE) $(UPGRADE) -c requirements/dev.txt $(FROM_RUNTIME) $(PACKAGED)/functions.in -o $(PACKAGED)/functions.txt
	@$(UV_COMPILE) $(UPGRADE) -c requirements/dev.txt $(FROM_RUNTIME) $(PACKAGED)/step.in -o $(PACKAGED)/step.txt
	@$(UV_COMPILE) $(UPGRADE) -c requirements/dev.txt $(FROM_RUNTIME) $(PACKAGED)/traces.in -o $(PACKAGED)/traces.txt
	@$(UV_COMPILE) $(UPGRADE) -c requirements/dev.txt $(PACKAGED)/tools.in -o $(PACKAGED)/tools.txt
	@$(UV_COMPILE) $(UPGRADE) -c requirements/dev.txt $(FROM_RUNTIME) requirements/floor.in -o requirements/floor.txt
	@$(UV_COMPILE) $(UPGRADE) -c requirements/dev.txt requirements/browser.in -o requirements/browser.txt
	@$(UV_COMPILE) $(UPGRADE) requirements/bench.in -o requirements/bench.txt
	@$(UV_COMPILE) $(UPGRADE) --no-deps requirements/model.in -o requirements/model.txt
	@$(UV_COMPILE) $(UPGRADE) requirements/litellm.in -o requirements/litellm.txt
	@$(UV_COMPILE) $(UPGRADE) requirements/audit.in -o requirements/audit.txt
	@$(UV_COMPILE) $(UPGRADE) requirements/api.in -o requirements/api.txt
	@$(UV_COMPILE) $(UPGRADE) requirements/otlp.in -o requirements/otlp.txt
	@$(UV_COMPILE) $(UPGRADE) requirements/mcp.in -o requirements/mcp.txt
	@echo "lock: done"

audit: setup ## ask public advisories about every pinned package (needs the network; it fails where one gives no answer)
	@$(BIN)/python -m acta.infra.toolchain audit
	@failed=0; for lock in requirements/*.txt $(PACKAGED)/*.txt acta/local_aws/requirements.txt; do echo "audit: $$lock"; .venv-audit/bin/pip-audit --strict \
		--require-hashes --disable-pip --progress-spinner off -r $$lock || failed=1; done; \
		npm audit --package-lock-only || failed=1; \
		npm audit --package-lock-only --prefix acta/infra/packaging/cdk || failed=1; exit $$failed

sbom: setup ## what the locks pin, those that the zips are built from among them, as CycloneDX JSON in build/sbom
	@$(BIN)/python -m acta.infra.toolchain audit
	@mkdir -p build/sbom
	@for lock in requirements/*.txt $(PACKAGED)/*.txt acta/local_aws/requirements.txt; do .venv-audit/bin/cyclonedx-py requirements --output-reproducible $$lock \
		-o build/sbom/$$(basename $${lock/local_aws\/requirements/local_aws} .txt).cdx.json || exit 1; done
	@npm sbom --sbom-format=cyclonedx --package-lock-only >build/sbom/npm.cdx.json
	@npm sbom --sbom-format=cyclonedx --package-lock-only --prefix acta/infra/packaging/cdk >build/sbom/cdk.cdx.json

dist: setup ## the wheel and the sdist of acta-agents in dist/, the same bytes each time
	@rm -rf $(DIST) build/page && mkdir -p build/page
	@$(BIN)/python -m acta.infra.packaging.console_page build/page
	@$(BIN)/uv build --quiet --no-build-isolation --no-sources --python $(BIN)/python --out-dir $(DIST) .
	@ls $(DIST)

clean: ## remove everything that was made, the local stack's data included
	@rm -rf .venv .venv-emulator .venv-runtime .venv-bench .venv-model .venv-audit .venv-api .venv-otlp .venv-mcp .venv-litellm node_modules build dist .acta
