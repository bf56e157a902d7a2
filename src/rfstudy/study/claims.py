"""The claims of the papers as they are configured: ``config/claims/<paper>.yaml``, checked before anything runs."""

from __future__ import annotations

import csv
from pathlib import Path

from rfstudy.metrics import FACTS
from rfstudy.report.claims import entries
from rfstudy.study.config import ConfigurationError, constant_or, extended, problems_of, read_yaml


def load_claims(
    config_dir: Path, experiments: dict[str, dict], looks: dict, tasks: dict, sizes: set[str]
) -> dict[str, dict[str, dict]]:
    """The entries of all papers' claims, by paper and id, with what they extend laid under them.

    ``experiments`` are all that are configured, by name; ``looks`` and ``tasks`` the parsed registries, ``sizes`` the
    labels of all sizes.
    ``ConfigurationError`` names file, claim and key of everything that is wrong.
    """
    own = list(experiments.values())
    known = {
        "methods": set(looks),
        "metrics": set(FACTS).union(*(constant_or(f"study.kinds.{each['kind']}", "METRICS", ()) for each in own)),
        "datasets": set(tasks),
        "experiments": set(experiments),
        "sizes": sizes,
    }
    problems, by_paper = [], {}
    for path in sorted((Path(config_dir) / "claims").glob("*.yaml")):
        document = extended(read_yaml(path), "claim", lambda base, own: base | own)
        ids = claims_of(Path(config_dir).parent / "data" / "reference" / "claims.csv", path.stem)
        found = entries.problems(document, path.stem, problems_of, known | {"claims": ids})
        problems += [f"{path.parent.parent.name}/claims/{path.name}: {problem}" for problem in found]
        by_paper[path.stem] = document
    if problems:
        raise ConfigurationError("\n".join(problems))
    return by_paper


def claims_of(reference: Path, paper: str) -> set[str]:
    """The ids of a paper's claims in the reference data."""
    with reference.open(encoding="utf-8", newline="") as stream:
        return {row["claim_id"] for row in csv.DictReader(stream) if row["paper"] == paper}
