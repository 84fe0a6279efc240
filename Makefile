# make run   install, run every study at quick scale on all cores, write the page
# make test  install the tools and run every check but the longest; make test-all: those too
# make docs  run every page of docs/ and build the site of them: site/index.html
# make package  build wheel and source archive, install each in an empty environment and try it
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 3
LONG := -m "not long"
# Tests start dozens of processes: what one has compiled, the next need not.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: run test test-all docs package lint clean

$(BIN)/recombine: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/dev: $(BIN)/recombine
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

run: $(BIN)/recombine
	$(BIN)/recombine reproduce --on processes

test-all: LONG :=
test test-all: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/mypy > $(VENV)/types & types=$$!; $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(LONG); tests=$$?; \
	wait $$types; types=$$?; cat $(VENV)/types; exit $$((tests + types))

docs: $(VENV)/dev
	$(BIN)/mkdocs build --quiet

package: $(VENV)/dev
	rm -rf dist && $(BIN)/hatchling build -d dist
	for built in dist/*.whl dist/*.tar.gz; do \
	rm -rf dist/env && $(PYTHON) -m venv dist/env && \
	dist/env/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt $$built && \
	(cd dist && env/bin/python ../tests/installed.py $$(../$(BIN)/hatchling version)) || exit 1; done

lint: $(VENV)/dev
	$(BIN)/ruff check --fix . && $(BIN)/ruff format .

clean:
	rm -rf $(VENV) .recombine recombine-report site dist
