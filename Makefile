# The first Python on PATH that is new enough; `make PYTHON=… run` selects another.
PYTHON := $(shell for python in python3 python3.13 python3.12 python3.11 python; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
bin := .venv/bin

# Cheap ones first. `make -k check` goes on after a failure.
checks := style layers prose security types deployment migrations description

.DEFAULT_GOAL := help
.PHONY: help run test test-all busy bench bench-ratios bench-pages bench-desk bench-import bench-partitions bench-releases journey-desk trace changes consistency check $(checks) faults cluster cluster-faults containers fuzz mutants translations lock platforms venv python

help:
	@echo 'make run     start everything on this machine (PORT=8000, DATA_DIR=.data, DEMO=1, DATABASE_URL, REDIS_URL)'
	@echo 'make test    the quick suite, in under five minutes (TESTS="tests/agents -k token" for a part of all tests)'
	@echo 'make test-all   every test: also browsers, clusters, faults, backups, documents, programs of others'
	@echo 'make busy    the tests ten times in a row beside a busy loop on each core (TESTS="tests/faults", TIMES=3)'
	@echo 'make check   style, types, layers, documents, migrations, deployment, API description, security'
	@echo 'make bench   measure requests per second with a million posts (BENCH="--posts 10000 --seconds 2 --rounds 1" for a short run)'
	@echo 'make bench-ratios   measure in four minutes the five ratios that a change must not make worse'
	@echo 'make bench-pages   measure each page of the account area beside 10,000 sites and 1,000 agents'
	@echo 'make bench-desk   measure each page of the desk beside ten million posts (BENCH="--posts 100000")'
	@echo 'make bench-import   measure an import of 100,000 posts, its memory, and its undoing (BENCH="--posts 5000", "--gigabytes 2", "--posts 1000000 --levels")'
	@echo 'make bench-partitions   measure what partitions of the posts cost and bring, beside one table of two million (BENCH="--posts 100000")'
	@echo 'make bench-releases   compare the processor time of operations with another release (BENCH="COMMIT --rounds 4")'
	@echo 'make journey-desk   a browser decides 100 agent requests by keys alone: keys, clicks and time (needs a Chromium)'
	@echo 'make trace   the files, functions and switches between files that a request passes through'
	@echo 'make changes   20,000 changes by overlapping transactions: every reader gets each once, in one order'
	@echo 'make mutants   200 random changes of the code: prints those that no quick test notices (MUTANTS="--seed 7 --sample 50 --only messaging")'
	@echo 'make consistency   compare reads with writes for a minute: two workers, two hosts, Redis frozen and killed'
	@echo 'make faults  inject hundreds of faults into a running service under load (FAULTS="deadlock --times 9" for some)'
	@echo 'make cluster   a whole cluster on this machine: PostgreSQL with two standbys, PgBouncer, Redis, three hosts, nginx'
	@echo 'make cluster-faults   hundreds of faults in such a cluster under load (CLUSTER="primary_killed --times 9" for some)'
	@echo 'make containers   build the image, and run deploy/cluster with podman (root; BUILD_OPTIONS for buildah)'
	@echo 'make fuzz    send a hundred thousand generated requests to a running service, and hunt for texts that cost much'
	@echo 'make translations   collect the texts of pages and mails, and compile their translations (needs gettext)'
	@echo 'make platforms   whether the locked packages can be installed with Python 3.11 to 3.14 on Linux and macOS (needs uv)'
	@echo 'make lock    choose new versions of the dependencies (needs uv)'

run: python
	@$(PYTHON) runtime/install.py requirements.lock
	@exec $(bin)/python -m runtime.run

pytest = $(bin)/python -m pytest -n 3 --dist worksteal

test: venv
	@exec $(pytest) $(or $(TESTS),-m '(not slow or journey) and not prose')

test-all: venv
	@exec $(pytest) -m 'not prose' --limit-processor-time --durations 40 --durations-min 5

# A test that fails by chance fails here: stops at the first failure.
busy: venv
	@for core in $$(seq $$(nproc)); do nice $(PYTHON) -c 'while True: pass' & loops="$$loops $$!"; done; \
	trap 'kill $$loops' EXIT; \
	for run in $$(seq $(or $(TIMES),10)); do \
		echo "Run $$run"; $(pytest) -q $(TESTS) || exit 1; \
	done

bench: venv
	@exec $(bin)/python -m tests.benchmarks $(BENCH)

bench-ratios: venv
	@exec $(bin)/python -m tests.benchmarks --ratios $(BENCH)

bench-pages: venv
	@exec $(bin)/python -m tests.benchmarks.pages $(BENCH)

bench-desk: venv
	@exec $(bin)/python -m tests.benchmarks.desk $(BENCH)

bench-import: venv
	@exec $(bin)/python -m tests.benchmarks.imports $(BENCH)

bench-partitions: venv
	@exec $(bin)/python -m tests.benchmarks.partitions $(BENCH)

bench-releases: venv
	@exec $(bin)/python -m tests.benchmarks.releases $(BENCH)

journey-desk: venv
	@JOURNEY_REQUESTS=100 JOURNEY_SECONDS=600 REQUIRE_ALL=1 exec $(bin)/python -m pytest -s -q tests/desk/browser/test_journey.py

trace: venv
	@exec $(bin)/python -m pytest -q -s tests/suite/test_journeys.py

changes: venv
	@CHANGES_ROWS=20000 exec $(bin)/python -m pytest -v tests/changes/test_model.py

consistency: venv
	@CONSISTENCY_SECONDS=20 exec $(bin)/python -m pytest -v tests/consistency

# Checks run with production settings.
random = $(shell $(PYTHON) -c 'import secrets; print(secrets.token_urlsafe(48))')
production = env DEBUG=0 BASE_URL=https://service.example SECRET_KEY=$(random) ROOT_KEY=$(random) TOKEN_PEPPER=$(random)
manage = $(production) $(bin)/python -W ignore::RuntimeWarning manage.py

check: $(checks)
	@echo 'Everything checked.'

style: venv
	$(bin)/ruff check .
	$(bin)/ruff format --check .

layers: venv
	$(bin)/lint-imports --no-logo

prose: venv
	$(bin)/python -m pytest -q -n 0 -m prose tests/documents

security: venv
	$(bin)/bandit --quiet --configfile pyproject.toml --recursive config kernel runtime messaging agents reactions embeds mails moving oauth mcp_server account_area desk clients manage.py

types: venv
	@echo mypy
	@$(production) $(bin)/mypy

deployment: venv
	@echo manage.py check --deploy
	@$(manage) check --deploy --fail-level WARNING

migrations: venv
	@echo manage.py makemigrations --check
	@$(manage) makemigrations --check --dry-run

description: venv
	@echo manage.py spectacular --validate --fail-on-warn
	@$(manage) spectacular --validate --fail-on-warn --file /dev/null

venv: python
	@$(PYTHON) runtime/install.py requirements.lock requirements-dev.lock

python:
	@test -n '$(PYTHON)' || { echo 'Python 3.11 or newer is needed; `python3` here is' \
		"$$(python3 --version 2>&1). Install one, or name it: make PYTHON=/path/to/python3.12 run" >&2; exit 1; }

# Long runs; `make test` runs a short form of each.
faults: venv
	@exec $(bin)/python -m tests.faults $(FAULTS)

# Need nginx, pgbouncer and redis-server; cuts of the network need root.
cluster: venv
	@exec $(bin)/python -m tests.cluster

cluster-faults: venv
	@exec $(bin)/python -m tests.cluster.fault_runs $(CLUSTER)

# Needs mmdebstrap, buildah, podman, runc and podman-compose.
containers: venv
	@exec $(bin)/python -m tests.packages.containers

mutants: venv
	@exec $(bin)/python -m tests.mutants $(MUTANTS)

fuzz: venv
	@$(bin)/python -m tests.fuzz $(FUZZ)
	@EFFORT=10 $(bin)/python -m pytest -q tests/fuzz -k 'machine or hunt'

lock:
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --upgrade \
		pyproject.toml --output-file requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --upgrade \
		--constraint requirements.lock pyproject.toml --group dev --output-file requirements-dev.lock

# rcssmin and rjsmin are built from source on macOS. For Macs with an Intel processor, cryptography has no wheel.
platforms:
	@folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; for platform in x86_64-manylinux_2_28 aarch64-manylinux_2_28 aarch64-apple-darwin; do \
		for version in 3.11 3.12 3.13 3.14; do \
			uv pip install --quiet --dry-run --only-binary :all: --no-binary rcssmin --no-binary rjsmin \
				--target "$$folder" --require-hashes --python-version $$version --python-platform $$platform -r requirements.lock \
				&& echo "$$platform, Python $$version: every package can be installed" || failed=1; \
		done; \
	done; test -z "$$failed"

translations: venv
	@env DEBUG=1 $(bin)/python manage.py makemessages --locale ar --locale de --locale es --locale fr --locale ja --locale pt --locale zh_Hans \
		--no-obsolete --no-wrap --add-location file --ignore '.venv/*' --ignore 'tests/*' --ignore 'clients/*' --ignore 'templates/admin/*'
	@env DEBUG=1 $(bin)/python manage.py compilemessages --ignore '.venv/*'
