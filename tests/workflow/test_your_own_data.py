"""The page about your own data works word by word, in a copy of the repository."""

import re
import shlex


def test_the_page_is_followed_word_by_word(new_workspace, page):
    space, page = new_workspace("own"), page("your-own-data.md")
    (script,) = page.blocks("python")
    space.add(script)
    commands = [line for block in page.blocks("bash") for line in block.splitlines()]
    printed = {}
    for command in commands:
        program, *words = shlex.split(command)
        if program == "snakemake":  # the jobs are those of the stages, which have tests of their own
            printed[command] = space.snakemake(*words, "--dry-run").stdout
        else:
            module = ["-m", "random_features"] if program == "random-features" else []
            printed[command] = space.run(*module, *words).stdout
    make, compare, best, plan, add, measure = printed.values()
    answer = compare.splitlines()[-5:]
    assert [line.partition(":")[0] for line in answer[::3]] == ["Answer", "Warnings"]
    score = re.search(r"Test root mean squared error: .+?: ([\d.]+)", answer[1])[1]
    assert f"test score: {score} on 240 rows" in best
    assert "separated by semicolons" in compare
    files = {path.name for path in (space.folder / "compare-sales").iterdir()}
    named = re.findall(r"^\| (`.+?) \|", page.text.partition("## Files")[0], re.MULTILINE)
    assert files == {name for cell in named for name in re.findall(r"`(.+?)`", cell)}
    assert "results/compare-sales" in plan
    assert "own-sales" in add
    assert "own-sales" in measure
    assert make == ""
