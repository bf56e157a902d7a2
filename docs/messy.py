"""Write the table "Twenty messy files" of docs/your-own-data.md.

``python docs/messy.py --help`` shows the options. Each function below makes a table, its target, and the text of a file
as people have them. A fifth of the rows is held back. ``compare`` gets a file of the others. What it read is
compared with the table, and what it recommends with ten lines of scikit-learn on the same rows: default gradient
boosting, a tuned kernel machine, and a search for the best map. Results are kept in ``results/messy``.
"""

import json
import os
import time
from pathlib import Path

from random_features.compare.command import PATIENCE

os.environ.update(PATIENCE | os.environ)

import click
import numpy as np
import pandas as pd
from scipy.spatial.distance import pdist
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeCV
from sklearn.svm import SVC

from random_features.compare import reading, recipe
from random_features.compare.contest import rank
from random_features.compare.contestants import is_map
from random_features.compare.decide import label
from random_features.compare.question import understand
from random_features.compare.run import compare
from random_features.errors import UserError

FOLDER, PAGE = Path("results/messy"), Path("docs/your-own-data.md")
START, END = "<!-- the table of docs/messy.py -->\n", "<!-- its end: messy -->\n"
ALPHAS = 10.0 ** np.arange(-5, 3)


def waves(n, d, seed, noise=0.3):
    """Return n rows of d numbers, and a smooth target of the first three."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return rng, X, np.sin(1.5 * X[:, 0]) + X[:, 1] * X[:, 2 % d] + noise * rng.normal(size=n)


def german(value, digits=2):
    """Return a number with thousands points and a decimal comma."""
    return f"{value:,.{digits}f}".translate(str.maketrans(",.", ".,"))


def lines(frame, sep=",", header=True, quote=False):
    """Return a table of texts as a file."""
    return frame.to_csv(sep=sep, index=False, header=header, quoting=1 if quote else 0)


def houses(seed=1, n=6000):
    """German houses: dates day-first, thousands points, euros, an encoding of Windows, cells without a number."""
    rng = np.random.default_rng(seed)
    area, age, lat = rng.uniform(30, 250, n).round(1), rng.integers(0, 90, n), rng.normal(size=n).round(3)
    day = pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 1500, n), "D")
    kind = rng.choice(["Köln", "Münster", "'s-Gravenhage"], n)
    worth = area * (3000 + 900 * np.sin(2 * lat)) * (1 - age / 300) * np.where(kind == "Köln", 1.3, 1)
    price = (worth * np.exp(0.08 * rng.normal(size=n))).round(2)
    truth = pd.DataFrame(
        {"Fläche": area, "Alter": age.astype(float), "Lage": lat, "Datum": day, "Ort": kind, "Preis": price}
    )
    text = truth.copy()
    text["Fläche"], text["Lage"] = [german(v, 1) for v in area], [german(v, 3) for v in lat]
    text["Preis"], text["Datum"] = [german(v) + " €" for v in price], day.strftime("%d.%m.%Y")
    gone = rng.random(n) < 0.02
    text["Alter"] = np.where(gone, "k.A.", age.astype(str))
    truth.loc[gone, "Alter"] = np.nan
    return truth, "Preis", text, {"sep": ";", "encoding": "cp1252"}


def fraud(seed=2, n=40_000):
    """Three percent positives; amounts in dollars with commas between thousands; times of day with AM and PM."""
    rng = np.random.default_rng(seed)
    amount, hour, a, b = rng.lognormal(6, 1.2, n).round(2), rng.integers(0, 1440, n), *rng.normal(size=(2, n)).round(4)
    risk = 2.5 * np.sin(hour / 1440 * 2 * np.pi) + 1.2 * np.log(amount / 400) + 2 * a * b
    fraud = np.where(risk + rng.logistic(size=n) > np.quantile(risk + 0.5, 0.968), "yes", "no")
    truth = pd.DataFrame({"amount": amount, "time": hour / 60, "a": a, "b": b, "fraud": fraud})
    text = truth.copy()
    text["amount"] = [f"${v:,.2f}" for v in amount]
    text["time"] = [f"{(h // 60 - 1) % 12 + 1}:{h % 60:02d} {'AM' if h < 720 else 'PM'}" for h in hour]
    return truth, "fraud", text, {"quote": True}


def plant(seed=3, n=200_000):
    """Many rows and columns with steps that trees find late; scientific notation; names that are numbers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 30)).astype(np.float32).round(4)
    y = sum(np.sign(X[:, j] * X[:, j + 1] - 0.3) for j in range(0, 8, 2)) * 0.5 + np.sin(2 * X[:, 10]) + X[:, 11]
    y = (y + 0.3 * rng.normal(size=n)).round(4)
    truth = pd.DataFrame(X.astype(float), columns=[str(1100 + 5 * j) for j in range(30)]).assign(output=y)
    return truth, "output", truth, {"sep": "\t"}


def american(seed=4, n=2500):
    """Dates with the month first, and percent."""
    rng, X, y = waves(n, 3, seed)
    day = pd.Timestamp("2020-03-01") + pd.to_timedelta(rng.integers(0, 700, n), "D")
    truth = pd.DataFrame({"rate": (X[:, 0] * 10).round(1), "x": X[:, 1].round(4), "z": X[:, 2].round(4), "on": day,
                          "y": (y * 100).round(1)})  # fmt: skip
    text = truth.assign(rate=[f"{v}%" for v in truth["rate"]], on=day.strftime("%m/%d/%Y"))
    return truth, "y", text, {}


def french(seed=5, n=3000):
    """Narrow blanks between thousands, decimal commas, a minus of typography."""
    _, X, y = waves(n, 4, seed)
    truth = pd.DataFrame((X * 4000).round(1), columns=list("abcd")).assign(y=(y * 1000).round(1))
    text = truth.map(lambda v: f"{v:,.1f}".replace(",", "\u202f").replace(".", ",").replace("-", "\u2212"))
    return truth, "y", text, {"sep": ";"}


def swiss(seed=6, n=1500):
    """Apostrophes between thousands, two-digit years."""
    rng, X, y = waves(n, 3, seed)
    day = pd.Timestamp("2015-01-20") + pd.to_timedelta(rng.integers(0, 2000, n), "D")
    truth = pd.DataFrame({"a": (X[:, 0] * 5000).round(2), "b": X[:, 1].round(3), "c": X[:, 2].round(3), "d": day,
                          "y": y.round(3)})  # fmt: skip
    text = truth.assign(a=[f"{v:,.2f}".replace(",", "'") for v in truth["a"]], d=day.strftime("%d.%m.%y"))
    return truth, "y", text, {"sep": ";"}


def machines(seed=7, n=3000):
    """Groups whose rows resemble each other, durations, ratios."""
    rng = np.random.default_rng(seed)
    g = rng.integers(0, 60, n)
    x, z, run = rng.normal(size=n).round(3), rng.uniform(0.5, 4, n).round(1), rng.integers(60, 200_000, n)
    y = (np.sin(2 * x) + np.log(z) + run / 1e5 + rng.normal(size=60)[g] * 0.5 + 0.2 * rng.normal(size=n)).round(3)
    truth = pd.DataFrame({"machine": [f"m{v}" for v in g], "x": x, "ratio": z, "run": run / 3600, "y": y})
    text = truth.assign(ratio=[f"{v}:1" for v in z], run=[f"{v // 3600}:{v // 60 % 60:02d}:{v % 60:02d}" for v in run])
    return truth, "y", text, {"group": "machine"}


def sensors(seed=8, n=4000):
    """Sorted by time with zones, rows without a time."""
    rng, X, y = waves(n, 3, seed)
    t = pd.Timestamp("2022-05-01") + pd.to_timedelta(np.arange(n) * 17, "min")
    truth = pd.DataFrame(X.round(4), columns=list("abc")).assign(when=t, y=y.round(4))
    gone = rng.random(n) < 0.01
    text = truth.assign(when=np.where(gone, "", t.strftime("%Y-%m-%dT%H:%M:%S+00:00")))
    truth.loc[gone, "when"] = pd.NaT
    return truth, "y", text, {"time": "when"}


def classes(seed=9, n=5000):
    """Labels 01, 02 and 10, and postal codes with zeros in front."""
    rng, X, y = waves(n, 3, seed)
    code = rng.choice([f"{v:05d}" for v in rng.integers(1000, 9000, 20)], n)
    lab = np.array(["01", "02", "10"])[np.digitize(y, np.quantile(y, [0.4, 0.8]))]
    truth = pd.DataFrame(X.round(4), columns=list("abc")).assign(code=code, label=lab)
    return truth, "label", truth, {}


def ages(seed=10, n=800):
    """A target of few whole numbers that are ages; an unnamed column of row numbers."""
    _, X, y = waves(n, 4, seed, 0.2)
    age = np.clip((27 + 4 * y).round(), 18, 37)
    truth = pd.DataFrame(X.round(3), columns=list("abcd")).assign(age=age)
    text = truth.assign(age=age.astype(int))
    text.insert(0, "", np.arange(n))
    return truth, "age", text, {}


def units(seed=11, n=1200):
    """A line of units below the names, a title above, names that are repeated in the middle."""
    _, X, y = waves(n, 3, seed)
    truth = pd.DataFrame(X.round(3), columns=["length", "mass", "load"]).assign(y=y.round(3))
    return truth, "y", truth, {"edit": lambda text: with_units(text)}


def with_units(text):
    """Return a file with a title, units, and its first line once more in the middle."""
    rows = text.splitlines()
    middle = len(rows) // 2
    return "\n".join(["Export of 3 May", "", rows[0], "mm,kg,N,EUR", *rows[1:middle], rows[0], *rows[middle:]]) + "\n"


def trailing(seed=12, n=600):
    """A separator at the end of each line of data; question marks for missing numbers."""
    rng, X, y = waves(n, 3, seed)
    truth = pd.DataFrame(X.round(3), columns=list("abc")).assign(y=y.round(3))
    gone = rng.random(n) < 0.05
    text = truth.assign(b=np.where(gone, "?", truth["b"].astype(str)))
    truth.loc[gone, "b"] = np.nan
    return truth, "y", text, {"edit": lambda t: t.replace("\n", ",\n").replace("y,\n", "y\n", 1)}


def nameless(seed=13, n=2000):
    """No names, blanks between the cells."""
    _, X, y = waves(n, 5, seed)
    truth = pd.DataFrame(np.column_stack([X, y]).round(4), columns=[f"c{j + 1}" for j in range(6)])
    return truth, "c6", truth, {"sep": " ", "header": False}


def quoted(seed=14, n=2000):
    """Line ends inside quotes, quotes in cells, separators in cells."""
    rng, X, y = waves(n, 3, seed)
    words = rng.choice(['a "big" one', "two\nlines", "with, comma", "plain"], n)
    y = (y + 1.5 * (words == "plain")).round(3)
    truth = pd.DataFrame(X.round(3), columns=list("abc")).assign(note=words, y=y)
    return truth, "y", truth, {}


def late(seed=15, n=4000):
    """A column whose type changes after line 2,000: the file has to be refused, or read as stated."""
    _, X, y = waves(n, 3, seed)
    truth = pd.DataFrame(X.round(3), columns=list("abc")).assign(y=y.round(3))
    text = truth.assign(a=truth["a"].astype(str))
    text.loc[3000:3003, "a"] = "3 bar"
    truth.loc[3000:3003, "a"] = 3.0
    return truth, "y", text, {"ask": {"formats": ["a=number"]}}


def ambiguous(seed=16, n=1000):
    """Dates up to the 12th of a month: the file has to be refused, or read as stated."""
    rng, X, y = waves(n, 3, seed)
    day = pd.to_datetime({"year": 2021, "month": rng.integers(1, 13, n), "day": rng.integers(1, 13, n)})
    truth = pd.DataFrame(X.round(3), columns=list("abc")).assign(on=day, y=y.round(3))
    return truth, "y", truth.assign(on=day.dt.strftime("%d/%m/%Y")), {"ask": {"formats": ["on=%d/%m/%Y"]}}


def patients(seed=17, n=400):
    """Few rows with groups, and labels None and NA."""
    rng = np.random.default_rng(seed)
    g = rng.integers(0, 50, n)
    X = rng.normal(size=(n, 4)).round(3)
    lab = np.where(X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n) > 0.3, "ill", "None")
    truth = pd.DataFrame(X, columns=list("abcd")).assign(patient=[f"p{v}" for v in g], state=lab)
    return truth, "state", truth, {"group": "patient", "ask": {"missing": ""}}


def small(seed=18, n=300):
    """Three hundred rows and twelve columns, one of them constant."""
    _, X, y = waves(n, 11, seed)
    truth = pd.DataFrame(X.round(3), columns=[f"x{j}" for j in range(11)]).assign(
        same=1.0, y=(X[:, 0] + 0.3 * y).round(3)
    )
    return truth, "y", truth, {"sep": "|"}


def sparse_arff(seed=19, n=2000):
    """An ARFF file with sparse lines, comments, and nominal values in quotes."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, 12)) < 0.3) * rng.integers(1, 9, (n, 12))
    lab = np.where(X[:, 0] * 2 + X[:, 1] - X[:, 2] * X[:, 3] / 3 + rng.normal(size=n) > 2, "it's on", "off")
    truth = pd.DataFrame(X.astype(float), columns=[f"w{j}" for j in range(12)]).assign(state=lab)
    return truth, "state", truth, {"arff": True}


def steps(seed=20, n=20_000):
    """Twenty thousand rows, identifiers beyond 2^53, missing cells as n/a, UTF-16."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 6)).round(3)
    y = (np.cos(2 * X[:, 0]) * X[:, 1] + np.sin(3 * X[:, 2]) + 0.2 * rng.normal(size=n)).round(3)
    truth = pd.DataFrame(X, columns=list("abcdef")).assign(y=y)
    gone = rng.random(n) < 0.02
    text = truth.assign(d=np.where(gone, "n/a", truth["d"].astype(str)))
    text.insert(0, "id", [str(2**60 + 7 * i) for i in rng.permutation(n)])
    truth.loc[gone, "d"] = np.nan
    return truth, "y", text, {"encoding": "utf-16"}


SETS = (
    houses, fraud, plant, american, french, swiss, machines, sensors, classes, ages, units, trailing, nameless, quoted,
    late, ambiguous, patients, small, sparse_arff, steps,
)  # fmt: skip


def written(text, how, path):
    """Write a table of texts as a file."""
    if how.get("arff"):
        last = {"off": "", "it's on": ", 12 'it\\'s on'"}
        cells = [", ".join(f"{j} {v:g}" for j, v in enumerate(row[:-1]) if v) for row in text.to_numpy()]
        rows = ["{" + each + last[label] + "}" for each, label in zip(cells, text["state"], strict=True)]
        head = ["@relation messy", *(f"@attribute {name} numeric" for name in text.columns[:-1])]
        body = "\n".join([*head, "@attribute state {off,'it\\'s on'}", "@data", "% a comment", *rows]) + "\n"
    else:
        body = lines(text, how.get("sep", ","), how.get("header", True), how.get("quote", False))
    body = how["edit"](body) if "edit" in how else body
    path.write_bytes(body.encode(how.get("encoding", "utf-8")))


def misread(table, truth, target):
    """Return the names of columns that differ from the truth."""
    wrong = []
    for name in truth:
        want, got = truth[name], table.get(name)
        if got is None or len(got) != len(want):
            wrong.append(name)
        elif want.dtype.kind == "M":
            wrong += [name] * (not pd.to_datetime(got).equals(want.astype(pd.to_datetime(got).dtype)))
        elif want.dtype.kind == "f":
            same = got.dtype.kind in "iuf" and np.allclose(got.astype(float), want, rtol=1e-6, equal_nan=True)
            wrong += [name] * (not same)
        else:
            wrong += [name] * (list(got.astype(str)) != list(want.astype(str)))
    return wrong


def encoded(truth, target, leave):
    """Return the columns of a table as ten lines of scikit-learn would have them."""
    X = truth.drop(columns=[target, *leave])
    for name in X.columns[[kind.kind == "M" for kind in X.dtypes]]:
        X[name] = (X[name] - pd.Timestamp("2000-01-01")).dt.total_seconds()
    X = pd.get_dummies(X, dtype=float)
    return X.fillna(X.mean()).to_numpy()


def peers(X, y, train, test, is_class):
    """Return the errors of default boosting, a tuned kernel, and the best of maps with its columns; at most 4,000 rows
    choose settings and fit the kernel.
    """
    y, codes = (pd.factorize(y, sort=True)[0], True) if is_class else (np.asarray(y, float), False)
    mean, sd = X[train].mean(0), X[train].std(0) + 1e-12
    Z = (X - mean) / sd

    def error(P, rows):
        return 100 * np.mean(y[rows] != P) if codes else np.sqrt(np.mean((P - y[rows]) ** 2))

    trees = HistGradientBoostingClassifier if codes else HistGradientBoostingRegressor
    found = {"boosting": error(trees(random_state=0).fit(X[train], y[train]).predict(X[test]), test)}
    rng = np.random.default_rng(0)
    some = rng.permutation(train)[:4000]
    fit, held = np.split(some, [3 * len(some) // 4])
    scale = np.median(pdist(Z[fit][:800]))
    tries = []
    for factor in (0.25, 0.5, 1, 2, 4):
        gamma = 0.5 / (factor * scale) ** 2
        for strength in (1, 10, 100, 1000):
            model = (
                SVC(C=strength, gamma=gamma) if codes else KernelRidge(alpha=1 / strength, gamma=gamma, kernel="rbf")
            )
            m = 0.0 if codes else y[fit].mean()
            tries.append((error(model.fit(Z[fit], y[fit] - m).predict(Z[held]) + m, held), model, gamma))
    _, model, gamma = min(tries, key=lambda each: each[0])
    m = 0.0 if codes else y[some].mean()
    found["kernel"] = error(model.fit(Z[some], y[some] - m).predict(Z[test]) + m, test)
    best = (np.inf,)
    Y = np.eye(y.max() + 1)[y] if codes else y[:, None]
    for D in (64, 256, 1024):
        if len(fit) < D:
            continue
        for made in (Nystroem, RBFSampler):
            for factor in (0.5, 1, 2):
                phi = made(gamma=gamma * factor, n_components=D, random_state=0).fit(Z[fit])
                ridge = RidgeCV(ALPHAS).fit(phi.transform(Z[fit]), Y[fit])
                P = ridge.predict(phi.transform(Z[held]))
                e = error(P.argmax(1) if codes else P.ravel(), held)
                best = min(best, (e, D, made, gamma * factor), key=lambda each: each[0])
    _, D, made, gamma = best
    rows = train[: min(len(train), 30_000)]
    phi = made(gamma=gamma, n_components=D, random_state=0).fit(Z[rows])
    P = RidgeCV(ALPHAS).fit(phi.transform(Z[rows]), Y[rows]).predict(phi.transform(Z[test]))
    found |= {"map": error(P.argmax(1) if codes else P.ravel(), test), "columns": D, "made": made.__name__}
    return found


def measured(make, budget, most) -> dict:
    """Return the row of a set."""
    truth, target, text, how = make()
    n, rng = len(truth), np.random.default_rng(0)
    asked = {key: how[key] for key in ("group", "time") if key in how}
    if "time" in how:
        train, test = np.split(np.arange(n), [4 * n // 5])
        train, test = (rows[truth["when"].to_numpy()[rows] == truth["when"].to_numpy()[rows]] for rows in (train, test))
    elif "group" in how:
        names = rng.permutation(truth[how["group"]].unique())
        late = truth[how["group"]].isin(names[4 * len(names) // 5 :]).to_numpy()
        train, test = np.flatnonzero(~late), np.flatnonzero(late)
    else:
        train, test = (np.sort(rows) for rows in np.split(rng.permutation(n), [4 * n // 5]))
    FOLDER.mkdir(parents=True, exist_ok=True)
    suffix = ".arff" if how.get("arff") else ".csv"
    file, whole = FOLDER / f"{make.__name__}{suffix}", FOLDER / f"{make.__name__}.whole{suffix}"
    written(text.iloc[train].reset_index(drop=True), how, file)
    written(text, how, whole)
    row = {"set": make.__name__, "rows": len(train), "refused": ""}
    try:
        asking = understand(file, target, **asked)
    except UserError as error:
        row["refused"], asked = str(error).partition(": ")[2], asked | how["ask"]
        asking = understand(file, target, **asked)
    formats, missing = asking.settings["formats"], asking.settings["missing"]
    read = recipe.typed(reading.read(file, asking.settings["asked"]).table, formats, missing)
    row["misread"] = misread(read, truth.iloc[train].reset_index(drop=True), target)
    started = time.monotonic()
    decision = compare(file, target, out=FOLDER / make.__name__, budget=budget, columns=most, **asked)
    row["minutes"] = round((time.monotonic() - started) / 60, 1)
    settings = asking.settings
    table, y, _, _ = recipe.question(reading.read(whole, settings["asked"]), settings | {"group": None, "time": None})
    is_class, errors = settings["task"] == "classes", {}
    results = [each["result"] for each in decision.comparisons]
    maps = sorted((each for each in results if is_map(each.unit.name)), key=rank)
    exact = [each for each in results if each.unit.name == "exact-kernel"]
    if not maps:
        raise SystemExit(f"{make.__name__}: no map ran within --budget {budget}")
    for key, result in {
        "recommended": decision.chosen,
        "best map": maps[0],
        **({"exact": exact[0]} if exact else {}),
    }.items():
        rows = recipe.sample(train, min(len(train), 10_000) if key == "exact" else None)
        model = recipe.fitted(table.iloc[rows], y[rows], settings, result.unit.name, result.settings)
        P = recipe.predicted(model, table.iloc[test], settings["classes"])
        errors[key] = recipe.score(
            recipe.losses(P, y[test], "error" if is_class else "rmse"), "error" if is_class else "rmse"
        )
        row[key] = [label(result), float(errors[key])]
    leave = [how["group"]] if "group" in how else ["when"] if "time" in how else []
    row["peers"] = peers(encoded(truth, target, leave), truth[target], train, test, is_class)
    return row | {"kind": decision.kind}


def table_of(rows) -> str:
    """Return the table of the page, and its counts."""
    head = (
        "file, rows, read, recommended, error, boosting, tuned kernel, exact kernel, best map, error, searched, error"
    )
    head = head.split(", ")
    out, counts = [head, ["---"] * len(head)], np.zeros(4, int)
    for row in rows:
        peer, exact = row["peers"], row.get("exact", ["", np.nan])[1]
        pairs = (row["recommended"][1], min(peer["boosting"], peer["kernel"])), (row["best map"][1], peer["map"]), (
            exact, peer["kernel"])  # fmt: skip
        counts += [not row["misread"], *(ours <= 1.05 * theirs for ours, theirs in pairs)]
        read = "WRONG" if row["misread"] else "asked" if row["refused"] else "right"
        out.append([row["set"], f"{row['rows']:,}", read, row["recommended"][0], f"{row['recommended'][1]:.3g}"])
        out[-1] += [
            f"{peer['boosting']:.3g}",
            f"{peer['kernel']:.3g}",
            f"{exact:.3g}" if exact == exact else "not run",
            row["best map"][0],
        ]
        out[-1] += [f"{row['best map'][1]:.3g}", f"{peer['made']} {peer['columns']:,}", f"{peer['map']:.3g}"]
    n, text = len(rows), "".join(f"| {' | '.join(map(str, line))} |\n" for line in out)
    right, good, maps, exact = counts
    return text + (
        f"\n{right} of {n} files are read right, some after a question. The recommended model is within 5 % of the\n"
        f"better of boosting and a tuned kernel, or better, on {good} of {n}. The best map is within 5 % of the\n"
        f"searched one on {maps}, and the exact kernel of `compare` within 5 % of the tuned one on {exact}.\n"
    )


@click.command()
@click.argument("sets", nargs=-1, metavar="[SET]...", type=click.Choice([make.__name__ for make in SETS]))
@click.option("--budget", default="3m", show_default=True, help="Time for each set.")
@click.option("--table", is_flag=True, help="Run nothing, and write the table of all finished sets.")
def main(sets, budget, table):
    """Compare the files of each SET, of all by default, and write the table into docs/your-own-data.md."""
    for make in [] if table else [make for make in SETS if make.__name__ in (sets or [make.__name__])]:
        row = measured(make, budget, 2048)
        (FOLDER / f"{make.__name__}.json").write_text(json.dumps(row), "utf-8")
    files = [FOLDER / f"{make.__name__}.json" for make in SETS]
    rows = [json.loads(path.read_text("utf-8")) for path in files if path.exists()]
    if not rows:
        raise click.ClickException(f"{FOLDER} has no finished set")
    found = table_of(rows)
    before, rest = PAGE.read_text("utf-8").split(START)
    PAGE.write_text(f"{before}{START}{found}{END}{rest.split(END)[1]}", "utf-8")
    click.echo(found)


if __name__ == "__main__":
    main()
