"""What the findings of `nsrf` rest on: learned Fourier features."""

from .shipped import Held, context, one, rounded, told

HELD = Held("nsrf")

#: exp(-|x - y|^2 / median^2), over the median distance.
WIDTH_OF_THE_TEXT = f"{0.5**0.5:.6f}"


@HELD.by(
    "On made sets of our own the printed accuracies come out, and both sets can be had with less",
    "On the windmill",
    "The text has",
    "On our windmill",
)
def made_tasks(table, text):
    """Accuracies on both made tasks, no more than half a point below those printed, and the distinct harmonics."""
    games = table("values-game-text")
    mill = {"data_set_id": "windmill", "method_variant": "", "m": 1000}
    board = {"data_set_id": "checkerboard", "method_variant": "", "m": 100}
    accuracies = [rounded(one(games, column, **where)) for where in (mill, board) for column in ("test", "training")]
    pattern = r"has ([\d.]+) % on test and ([\d.]+) %.*checkerboard ([\d.]+) and ([\d.]+) % after"
    assert told(text, pattern) == accuracies
    printed = [99.3, 99.7, 99.1, 99.7]
    assert min(ours - of for ours, of in zip(accuracies, printed, strict=True)) > -0.5
    assert told(text, r"with (\d+) distinct") == [one(games, "distinct", **board)]
    assert one(games, "distinct", **board) < 29
    kernels = table("values-exact-text")
    on_mill = {"data_set_id": "windmill"}
    rivals = [
        rounded(one(kernels, "test", machine_id="arccos0", **on_mill)),
        rounded(one(kernels, "test", machine_id="combination", **on_mill)),
        rounded(one(kernels, "test", machine_id="gaussian", machine_variant="0.125", **on_mill)),
        rounded(one(kernels, "test", machine_id="gaussian", machine_variant=WIDTH_OF_THE_TEXT, **on_mill)),
    ]
    pattern = r"order 0 has ([\d.]+) %, a learned combination of nine kernels ([\d.]+), .* distance ([\d.]+) and "
    assert told(text, pattern + r"at 0.707 times it ([\d.]+) \(") == rivals
    assert rivals[0] > accuracies[0]
    exact = ["gaussian", "arccos0", "arccos1", "linear", "combination"]
    on_board = kernels[(kernels["data_set_id"] == "checkerboard") & kernels["machine_id"].isin(exact)]
    uniform = board | {"method_variant": "uniform"}
    assert one(games, "distinct", **uniform) == 1
    pattern = r"the best of them has ([\d.]+), and one harmonic, .* find, ([\d.]+)\."
    assert told(text, pattern) == [rounded(on_board["test"].max()), rounded(one(games, "test", **uniform))]


@HELD.by(
    "On the windmill the game does the work, not the search",
    "Uniform dual weights",
    "With 100 frequencies",
)
def the_game_not_the_search(table, text):
    """The dual weights matter and pass the test; random draws are as good with many frequencies, not with few."""
    many, few = table("values-windmill-text"), table("values-windmill-few-text")
    change = {"quantity": "change"}
    assert told(text, r"weights cost ([\d.]+) points") == [-rounded(one(many, step_id="uniform", **change))]
    for steps in (many, few):
        assert one(steps, "p_value", step_id="uniform", **change) < 0.05
    both = [rounded(one(many, step_id=step, quantity="accuracy")) for step in ("random", "")]
    assert told(text, r"lose nothing \(([\d.]+) against ([\d.]+) %\)") == both
    assert one(many, "p_value", step_id="random", **change) > 0.05
    assert told(text, r"no noise ([\d.]+)\.") == [-rounded(one(many, step_id="still", **change))]
    random = [
        rounded(-one(few, step_id="random", **change)),
        rounded(one(few, "p_value", step_id="random", **change), 3),
    ]
    assert told(text, r"are ([\d.]+) points behind.*\(p = ([\d.]+)\)") == random


@HELD.by(
    "On the windmill ten frequencies a round cost accuracy where frequencies are few",
    "One a round,",
)
def ten_a_round(table, text):
    """One frequency a round is better with few and worse with many; both pass the test."""
    one_a_round = {"quantity": "change", "step_id": "one"}
    few, many = table("values-windmill-few-text"), table("values-windmill-text")
    changes = [rounded(one(few, **one_a_round)), -rounded(one(many, **one_a_round))]
    assert told(text, r"is ([\d.]+) points better.*and ([\d.]+) worse") == changes
    assert min(changes) > 0
    assert max(one(steps, "p_value", **one_a_round) for steps in (few, many)) < 0.05


@HELD.by(
    "With few frequencies the duality gap is above what Theorem 4.1 leaves to an exact search",
    "With ten frequencies",
    "This does not",
    "Its proof takes",
    "The step of",
)
def the_printed_bound(table, text):
    """Where the gap is above the bound of an exact search, and how far below the mended one."""
    games = table("values-game-text")
    mill = games[games["data_set_id"] == "windmill"]
    itself = mill[mill["method_variant"].fillna("") == ""]
    assert (itself["gap"] > itself["bound_of_an_exact_search"]).all()
    where = {"method_variant": "", "m": 1000}
    ten = [rounded(one(mill, column, **where), 0) for column in ("gap", "bound_of_an_exact_search")]
    assert told(text, r"in the mean ([\d,]+) against ([\d,]+) with 1,000") == ten
    by_m = mill[mill["method_variant"] == "one"].set_index("m")
    assert told(text, r"with 50 \(([\d,]+) against ([\d,]+)\)") == [
        rounded(by_m.loc[50, column], 0) for column in ("gap", "bound_of_an_exact_search")
    ]
    assert (by_m["gap"] > by_m["bound_of_an_exact_search"]).to_dict() == {50: True, 100: False, 1000: False}
    both = mill[mill["method_variant"].fillna("").isin(["", "one"])]
    assert (both["bound_mended"] > 50 * both["gap"]).all()


@HELD.by(
    "Learned frequencies are worth much where few are allowed",
    "On automobile against",
    "On plane against",
    "As the code",
    "The linear machine",
    "On each pair",
    "These are three",
)
def few_frequencies(table, text):
    """Accuracies on two pairs at the two ends of the sizes that were run, and those printed."""
    pairs = table("table-01-text")

    def accuracy(method, s, source="measured", pair="cifar10-auto-truck", column="accuracy_pct", of=pairs):
        return rounded(one(of, column, data_set_id=pair, s=s, source=source, method_id=method))

    three = ("nsrf", "rff", "karff")
    pattern = r"has ([\d.]+) % with 100.*RBF-RF ([\d.]+) and LKRF ([\d.]+) \(printed ([\d.]+), ([\d.]+) and ([\d.]+)\);"
    assert told(text, pattern) == [accuracy(m, 100) for m in three] + [accuracy(m, 100, "published") for m in three]
    both = ("nsrf", "rff")
    pattern = r"with 1,000 it has ([\d.]+) and RBF-RF ([\d.]+) \(printed ([\d.]+) and ([\d.]+)\)"
    assert told(text, pattern) == [accuracy(m, 1000) for m in both] + [accuracy(m, 1000, "published") for m in both]
    for s in (100, 500, 1000):
        assert accuracy("rff", s) > accuracy("rff", s, "published")
        assert accuracy("nsrf", s) < accuracy("nsrf", s, "published")
    lead = [accuracy("nsrf", 1000, source) - accuracy("rff", 1000, source) for source in ("measured", "published")]
    assert 0 < lead[0] < lead[1] / 10
    birds = "cifar10-plane-bird"
    leads = [
        rounded(accuracy("nsrf", s, source, birds) - max(accuracy(m, s, source, birds) for m in ("rff", "karff")))
        for source in ("measured", "published")
        for s in (100, 500, 1000)
    ]
    number = r"([\d.]+)"
    pattern = (
        rf"is {number} points with 100, {number} with 500 and {number} with 1,000 \(printed {number}, {number} and "
    )
    assert told(text, pattern + rf"{number}\)") == leads
    others = [table(f"table-01-{protocol}") for protocol in ("code", "tuned")]
    pattern = r"they\s+have ([\d.]+), ([\d.]+) and ([\d.]+), and .* tuned alike ([\d.]+), ([\d.]+) and ([\d.]+)\."
    assert told(text, pattern) == [accuracy(m, 100, of=each) for each in others for m in three]
    kernels = table("values-exact-text")
    exact = [one(kernels, "test", data_set_id="cifar10-auto-truck", machine_id=each) for each in ("linear", "arccos1")]
    assert told(text, r"512 columns has ([\d.]+) %, the .* of order 1 ([\d.]+)\.") == [rounded(each) for each in exact]
    for pair, name in (("mnist-1-7", "1 and 7"), ("mnist-4-9", "4 and 9"), ("mnist-5-6", "5 and 6")):
        few, *many = (accuracy(*which, pair=pair) for which in (("nsrf", 100), ("rff", 1000), ("karff", 1000)))
        assert told(text, rf"([\d.]+)(?: %)? against ([\d.]+) and ([\d.]+) on {name}") == [few, *many]
        assert few > max(many)
        assert accuracy("nsrf", 100, pair=pair, column="accuracy_pct_n") == 1
    assert accuracy("nsrf", 100, pair=birds, column="accuracy_pct_n") == 1
    rows = context("nsrf-text").rows
    rows = rows[(rows["method"] == "karff") & rows["dataset"].str.startswith("mnist") & (rows["n_features"] == 1000)]
    assert told(text, r"LKRF has no more than (\d+) there") == [rows["n_columns"].max()]
    assert accuracy("nsrf", 100, column="accuracy_pct_n") == 3


@HELD.by(
    "On automobile against truck no single part of the method is missed, on MNIST 4-9 two are",
    "With 100 frequencies,",
    "With 20, random",
    "With a twentieth",
    "On MNIST 4-9",
)
def no_single_part(table, text):
    """The accuracies without each part beside that of the method, with 100 frequencies and with 20."""
    steps = table("values-ablation-text")

    def accuracy(size, variant="", method="nsrf", column="value", pair="cifar10-auto-truck"):
        which = {"data_set_id": pair, "size": size, "method_id": method, "method_variant": variant}
        return rounded(one(steps, column, **which))

    own, plain = accuracy(100), accuracy(100, method="rff")
    (within, *both) = told(text, r"within ([\d.]+) points of ([\d.]+) %, where plain features have ([\d.]+)")
    assert both == [own, plain]
    parts = [accuracy(100, variant) for variant in ("still", "uniform", "random", "one")]
    assert max(abs(each - own) for each in parts) < within < own - plain
    few = [rounded(accuracy(20) - accuracy(20, "random")), rounded(accuracy(20, "uniform") - accuracy(20))]
    assert told(text, r"With 20, random draws fall ([\d.]+) points behind, and the game costs ([\d.]+)\.") == few
    budgets = table("values-evaluations-text")
    at = {"data_set_id": "cifar10-auto-truck", "evaluations": 6100, "choice_id": "nsrf"}
    two = [rounded(one(budgets, "test_accuracy", choice_variant=variant, **at)) for variant in ("random", "")]
    assert told(text, r"6,100, of which .*, random draws have ([\d.]+) % and the Langevin search ([\d.]+);") == two
    pool = one(budgets, "test_accuracy", **at | {"evaluations": 122000, "choice_id": "kprff"})
    assert told(text, r"the pool of EERF has ([\d.]+) with") == [rounded(pool)]
    assert accuracy(100, column="n") == 3
    kinds = [("", "nsrf"), ("random", "nsrf"), ("uniform", "nsrf"), ("still", "nsrf"), ("", "rff")]
    digits = [accuracy(100, variant, method, pair="mnist-4-9") for variant, method in kinds]
    pattern = r"On MNIST 4-9 NSRF has ([\d.]+) % .*, ([\d.]+) with random.*, ([\d.]+) without the game, and ([\d.]+) "
    assert told(text, pattern + r"without noise, where plain features have ([\d.]+)") == digits
    assert digits[0] == digits[3] > digits[1] > digits[4] > digits[2]
    assert accuracy(100, column="n", pair="mnist-4-9") == 1
