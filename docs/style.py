"""Check the words and sentences of the repository against docs/style.md; exit with 1 if a line needs an edit.

    python docs/style.py [FILE ...]

The first column of the table "Words" has the phrases in backticks; a word of an identifier counts too (`told_apart`).
A line that contains "style: allow" is skipped.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CODE, TEXT, YAML = (".py", ".smk"), (".md", ".j2", ".rst"), (".yaml", ".yml")
IDIOMS = re.compile(r"power[_ ]law|stands?[_ ](out|in)\b|none_stands_out")
SKIPPED = re.compile(r"docs/style\.(md|py)|data/|tests/golden/.*(?<!\.py)$|envs/")
LONGEST = {"docs/protocols.md": 25}  # words in a sentence
OF_CODE = {
    r'"""(What|Whether|How|Where|Why|Who|Of)\b': "a docstring opens with what the function returns or does",
    r"(^\s*(#|\*)?\s*|[.:] |\"|')Of [a-zA-Z{][^.]* (is|are|has|have|stays?|remains?)\b": "start with the subject",
    r"^\s+\w[\w, ]* : (?!an? |the )(\w+( (of|or) \w+)*|\{.*?\})(, optional)? [A-Z]\w* [a-z]|^\s+\w+Error [A-Z]": (
        "a description follows the type on a line of its own"
    ),
}


def phrases() -> dict[str, str]:
    """Return the pattern of each phrase to avoid, with its replacement."""
    section = (ROOT / "docs/style.md").read_text(encoding="utf-8").split("\n## Words\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", section, re.MULTILINE)
    found = {phrase: use for left, use in rows for phrase in re.findall(r"`(.+?)`", left)}
    return {rf"(?<![a-zA-Z]){phrase.replace(' ', '[ _]')}(?![a-z])": f"write: {use}" for phrase, use in found.items()}


def sentences(page: str):
    """Yield line numbers and sentences of a Markdown page, without code, headings, links and image paths.

    A list of names in code is as long as its last name.
    """
    page = re.sub(r"^```.*?^```$", lambda code: "\n" * code[0].count("\n"), page, flags=re.MULTILINE | re.DOTALL)
    page = re.sub(r"<!--.*?-->", lambda code: "\n" * code[0].count("\n"), page, flags=re.DOTALL)
    page = re.sub(r"(?:`[^`\n]*`, )+", "", page)
    page = re.sub(r"\]\([^)]*\)", "]", page)
    line = 1
    for block in re.split(r"(\n\s*\n|\n(?=\s*[*|#>-]|\s*\d+\. )| \| )", page):
        if not block.lstrip().startswith("#"):
            yield from ((line, sentence) for sentence in re.split(r"(?<=[.!?:;])[\s*)\"]+", block) if sentence.strip())
        line += block.count("\n")


def check(path: Path) -> list[str]:
    """Return one message per line or sentence of a file that needs an edit."""
    name, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
    patterns = phrases() | (OF_CODE if path.suffix in CODE else {})
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if "style: allow" not in line:
            hits = ((re.search(pattern, IDIOMS.sub("", line)), use) for pattern, use in patterns.items())
            found += [f"{name}:{number}: {hit[0].strip()!r}: {use}" for hit, use in hits if hit]
    if path.suffix == ".md":
        limit = LONGEST.get(name, 35)
        lengths = (
            (number, len(re.findall(r"\w[\w.,'/-]*", sentence)), sentence) for number, sentence in sentences(text)
        )
        found += [
            f"{name}:{n}: {size} words, at most {limit}: {s.strip()[:60]!r}" for n, size, s in lengths if size > limit
        ]
    return found


if __name__ == "__main__":
    listed = sys.argv[1:] or subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).split("\n")
    files = [ROOT / name for name in listed if name.endswith((*CODE, *TEXT, *YAML)) and not SKIPPED.match(name)]
    messages = [message for path in files if path.exists() for message in check(path)]
    print(*messages, sep="\n", end="\n" if messages else "")
    sys.exit(bool(messages))
