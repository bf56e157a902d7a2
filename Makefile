# make quick: a virtual environment, the package, and the embedded study with its index, figures/quick/index.html;
# make test: the test suite.
PYTHON ?= $(shell command -v python3.11 || echo python3)
VENV := .venv
BIN := $(VENV)/bin
CORES ?= all

.PHONY: quick test test-workflow test-others test-cluster check docs clean wheel archive

quick: $(VENV)/.installed
	@PATH="$(CURDIR)/$(BIN):$$PATH" snakemake --cores $(CORES)
	@echo "All numbers: results/quick/*.csv; the files of tables and figures (CSV, Markdown, LaTeX, PDF, PNG): figures/quick/"
	@echo "Snakemake's own report: snakemake --cores 1 --report figures/quick/report.html"
	@PYTHONPATH=src $(BIN)/python -m rfstudy index figures/quick

# six parts, two at a time, so that both cores work to the end; each part is shown when it has ended
test: $(VENV)/.installed
	@echo "The tests run in six parts on two cores, ten to fifteen minutes; all of them in one: python -m pytest"
	@$(MAKE) --no-print-directory --jobs 2 --keep-going --output-sync=target \
	  test-workflow test-unit-r-z test-unit-a-c test-unit-d-l test-unit-m-q test-others

test-workflow: $(VENV)/.installed
	PATH="$(CURDIR)/$(BIN):$$PATH" python -m pytest tests/workflow

# unit tests by the first letter of their names; the golden copies share the tables that those of the report make
test-unit-%: $(VENV)/.installed
	PATH="$(CURDIR)/$(BIN):$$PATH" python -m pytest tests/unit/test_[$*]*.py $(if $(filter r-z,$*),tests/golden)

test-others: $(VENV)/.installed
	PATH="$(CURDIR)/$(BIN):$$PATH" python -m pytest --ignore-glob 'tests/unit/test_*' --ignore tests/workflow \
	  --ignore tests/golden

# two nodes of a real SLURM on this machine, as root, under 10 minutes; INSTALL=1 installs Debian's packages
test-cluster: $(VENV)/.installed
	PATH="$(CURDIR)/$(BIN):$$PATH" RFSTUDY_CLUSTER=1 python -m pytest -m cluster tests/cluster

check: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python docs/style.py
	$(BIN)/snakefmt --check Snakefile rules
	PATH="$(CURDIR)/$(BIN):$$PATH" snakemake --lint
	PYTHONPATH=src $(BIN)/python -m rfstudy check
	for preset in config/presets/*.yaml; do \
	  PATH="$(CURDIR)/$(BIN):$$PATH" snakemake --dry-run --quiet all --cores 2 --configfile $$preset || exit 1; done

# the site with the measured tables and figures; warnings are errors; then its links, pictures and search are checked
docs: $(VENV)/.docs-installed
	rm -rf docs/_build docs/reference/classes
	@PATH="$(CURDIR)/$(BIN):$$PATH" snakemake --cores $(CORES) measured_figures
	PATH="$(CURDIR)/$(BIN):$$PATH" python -m sphinx --fail-on-warning --keep-going --quiet docs docs/_build
	PATH="$(CURDIR)/$(BIN):$$PATH" python -m pytest -q tests/unit/test_site.py
	@echo "The site: docs/_build/index.html"

# the library alone, from the wheel of its source distribution, in an environment of its own
wheel:
	rm -rf dist
	$(PYTHON) -m venv dist/build
	dist/build/bin/python -m pip install --disable-pip-version-check --quiet build
	dist/build/bin/python -m build --outdir dist . > dist/build.log
	$(PYTHON) -m venv dist/env
	dist/env/bin/python -m pip install --disable-pip-version-check --quiet dist/*.whl
	cd dist && env/bin/python -c "import numpy, random_features as rf; \
	  Z = rf.make_map('orf', n_components=64, random_state=0).fit_transform(numpy.eye(8)); print('features', Z.shape)"

# the release as tagged, its measured rows and published numbers alone, and their checksums; the same bytes each time.
# Before the tag: make archive REF=HEAD
VERSION := $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' src/random_features/__init__.py)
REF ?= v$(VERSION)
OUT ?= dist
archive:
	@mkdir -p $(OUT)
	git -c tar.umask=0022 archive --prefix=random-features-$(VERSION)/ -o $(OUT)/random-features-$(VERSION).tar $(REF)
	git archive $(REF) data/measured data/reference | tar -x -C $(OUT)
	cd $(OUT) && find data -type f -print0 | LC_ALL=C sort -z | tar --null --files-from - --mtime=@0 \
	  --owner=0 --group=0 --numeric-owner --mode=644 --format=ustar -cf measured.tar && rm -r data
	cd $(OUT) && sha256sum random-features-$(VERSION).tar measured.tar | tee SHA256SUMS

$(VENV)/.docs-installed: $(VENV)/.installed envs/docs.lock
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps -r envs/docs.lock
	@touch $@

$(VENV)/.installed: envs/requirements.lock pyproject.toml
	@mkdir -p logs
	@echo "Installing the packages of envs/requirements.lock into $(VENV): once, a few minutes; log: logs/install.log"
	@{ $(PYTHON) -m venv $(VENV) && \
	  $(BIN)/python -m pip install --disable-pip-version-check -r envs/requirements.lock && \
	  $(BIN)/python -m pip install --disable-pip-version-check --no-deps --editable . ; } > logs/install.log 2>&1 || \
	  { tail -n 3 logs/install.log; echo "The installation failed; log: logs/install.log"; exit 1; }
	@touch $@

clean:
	rm -rf $(VENV) results figures/*/ logs benchmarks .snakemake docs/_build docs/reference/classes
