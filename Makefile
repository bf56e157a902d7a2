# make quick: a virtual environment, the package, and the embedded study; make test: the test suite.
PYTHON ?= $(shell command -v python3.11 || echo python3)
VENV := .venv
BIN := $(VENV)/bin
CORES ?= all

.PHONY: quick test check clean

quick: $(VENV)/.installed
	PATH="$(CURDIR)/$(BIN):$$PATH" snakemake --cores $(CORES)
	@echo "Tables and figures: figures/quick/ (CSV, Markdown, LaTeX, PDF, PNG); all numbers: results/quick/*.csv"

test: $(VENV)/.installed
	PATH="$(CURDIR)/$(BIN):$$PATH" python -m pytest

check: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile rules
	PATH="$(CURDIR)/$(BIN):$$PATH" snakemake --lint
	for preset in config/presets/*.yaml; do \
	  PATH="$(CURDIR)/$(BIN):$$PATH" snakemake --dry-run --quiet all --cores 2 --configfile $$preset || exit 1; done

$(VENV)/.installed: envs/requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r envs/requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $@

clean:
	rm -rf $(VENV) results figures logs benchmarks .snakemake
