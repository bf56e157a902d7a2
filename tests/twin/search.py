"""The choices of the naive twin: what every method, size and repeat shares with others, tried value by value."""

import itertools
from dataclasses import dataclass, field

import numpy as np

from random_features.arrays import seed_of, seed_sequence
from random_features.errors import NotDefinedError
from random_features.kernels import make_kernel
from random_features.maps import make_map

from .data import draw_sample, folds, held_out_rows, length_scale_by
from .learners import at_edge, best, coded, cross_validated, ridge, scored_on

#: Who may share a choice, from the widest circle to the narrowest, and what can be chosen.
CIRCLES = ("experiment", "size", "method", "method_and_size", "split", "cell")
QUANTITIES = ("preprocess", "length_scale", "bandwidth", "options", "penalty")

#: On how many repeats, the first ones, a choice is made where several repeats share it.
SHARED_ON = 3

#: The map that represents all maps of a kernel.
PLAIN = {"gaussian": "rff", "arc_cosine": "rff", "laplacian": "rff", "polynomial": "trp"}


@dataclass
class Choices:
    """The choices of an experiment on a data set, each made once."""

    study: object
    dataset: str
    entries: list[dict]  # all, at all sizes: those that may share a penalty
    sizes: list[tuple[int, str]]
    made: dict = field(default_factory=dict)

    def of(self, entry: dict, size: tuple[int, str], repeat: int | None, circles=CIRCLES) -> tuple[dict, dict]:
        """Return the choices of some circles for a cell by quantity, who shares each of them by quantity, and which
        quantities (of penalties, which learners') are at an edge of their grids.
        """
        values, recorded = {}, {}
        for circle in circles:
            on = [repeat] if circle in ("split", "cell") else list(range(min(SHARED_ON, self.study.repeats)))
            stand_in = plain(entry) if circle in ("experiment", "size") else entry
            found = self.in_circle(circle, stand_in, size, on)
            searched = entry.get("searched", QUANTITIES)
            edges = {
                each: edge
                for each, edge in found.pop("at_edge", {}).items()
                if each in searched or each in self.study.learners
            }
            recorded["at_edge"] = recorded.get("at_edge", {}) | edges
            for quantity, value in found.items():
                if quantity in searched:
                    values[quantity] = value
                    draws = {"draws": len(self.draws())} if self.study.draws else {}
                    recorded[quantity] = {"tune_per": circle} | ({"chosen_on": on} | draws if circle != "cell" else {})
        return values, recorded

    def draws(self) -> list[dict]:
        """The draws of a map in a repeat that a choice is made on."""
        return [{"draw": draw} for draw in range(min(SHARED_ON, self.study.draws))] or [{}]

    def stated_size(self) -> tuple[int, str]:
        """The size that represents all sizes."""
        ((rule, value),) = self.study.search_size.items()
        return value * (self.study.data[self.dataset].X.shape[1] if rule == "multiples_of_d" else 1), "for all"

    def in_circle(self, circle: str, entry: dict, size: tuple[int, str], on: list[int]) -> dict:
        """The best values of what one circle chooses for an entry, made once for all its cells."""
        quantities = [quantity for quantity in QUANTITIES if self.takes_part(circle, entry, quantity)]
        if not quantities:
            return {}
        size = self.stated_size() if circle in ("experiment", "method") else size
        key = (circle, entry["method"], entry.get("variant"), repr(entry.get("kernel")), size, tuple(on))
        if key not in self.made:
            wider = CIRCLES[: CIRCLES.index(circle)]
            of_kernel = [each for each in self.entries if each.get("kernel") == entry.get("kernel")]
            entries = of_kernel if circle in ("experiment", "size") else [entry]
            all_sizes = circle in ("experiment", "method")
            everywhere = itertools.product(entries, self.sizes if all_sizes else [size])
            sharers = [(each, own) for each, own in everywhere if own[1] in each.get("only_sizes", [own[1]])]
            self.made[key] = self.searched(quantities, entry, size, on, wider, sharers)
        return dict(self.made[key])

    def takes_part(self, circle: str, entry: dict, quantity: str) -> bool:
        """Return whether something of a quantity is chosen for an entry in a circle; of the penalties of a cell it is
        not: they are chosen where it is trained.
        """
        search = self.study.search
        if quantity not in search or search[quantity]["tune_per"] != circle:
            return False
        if quantity == "options" and not self.options_tried(entry):
            return False
        return quantity in entry.get("searched", QUANTITIES) and (quantity, circle) != ("penalty", "cell")

    def options_tried(self, entry: dict) -> list[dict]:
        """The options that are tried of a map: those of all maps, or its own."""
        grid = self.study.search["options"]["grid"]
        return grid.get(entry["method"], []) if isinstance(grid, dict) else grid

    def searched(self, quantities: list[str], entry: dict, size, on: list[int], wider, sharers: list) -> dict:
        """The best of all combinations of values, and with them the best penalty of every learner; of equally good
        combinations the one that is named first, length scales from the largest. A penalty of ridge regression is one
        at which all sharers that have a solution at any have one. ``at_edge``: what has no smaller or larger value.
        """
        grids = {quantity: self.study.search[quantity]["grid"] for quantity in quantities if quantity != "penalty"}
        if "length_scale" in grids:
            grids["length_scale"] = sorted(grids["length_scale"], reverse=True)
        if "options" in grids:
            grids["options"] = self.options_tried(entry)
        learners = learners_of(self.study, entry)
        judge = self.study.judge or next(iter(learners))
        chosen, top, reached_by = None, -np.inf, []
        for values in itertools.product(*grids.values()):
            tried = dict(zip(grids, values, strict=True))
            own = self.study.of_judge if grids else {}
            scores = self.scores_by_fold(entry, size, on, wider, tried, judge, own)
            if scores is None:
                return {}
            means = [np.mean(of_folds) for of_folds in scores.values()]
            reached = max((mean for mean in means if not np.isnan(mean)), default=-np.inf)
            reached_by += [(tried, of_folds) for of_folds in scores.values() if np.mean(of_folds) == reached][:1]
            if chosen is None or reached > top + 1e-9:
                chosen, top = tried, reached
        widths = [quantity for quantity in ("length_scale", "bandwidth") if quantity in grids]
        edges = {}
        for quantity in widths:
            alone = {
                float(number(tried[quantity])): of_folds
                for tried, of_folds in reached_by
                if all(tried[other] == chosen[other] for other in tried if other != quantity)
            }
            edges[quantity] = at_edge(float(number(chosen[quantity])), alone)
        if "penalty" in quantities:
            penalties = {}
            for learner in learners:
                scores = self.scores_by_fold(entry, size, on, wider, chosen, learner)
                if scores is None or np.isnan([np.sum(of_folds) for of_folds in scores.values()]).all():
                    continue
                if learner == "ridge":
                    others = (list(scores), on, wider, chosen, sharers)
                    scores |= {value: [np.nan] for value in scores if not self.suits_all(value, *others)}
                penalties[learner] = best(scores, learners[learner].get("choice", "best"))
                edges[learner] = at_edge(penalties[learner], scores)
            chosen = chosen | {"penalty": penalties}
        return chosen | {"at_edge": {each: edge for each, edge in edges.items() if edge is not None}}

    def suits_all(self, value: float, grid: list[float], on: list[int], wider, chosen: dict, sharers: list) -> bool:
        """Return whether ridge regression has a solution at a penalty on all sharers that have one at any."""
        for (entry, size), repeat, draw in itertools.product(sharers, on, self.draws()):
            takes_part = "penalty" in entry.get("searched", QUANTITIES) and "ridge" in learners_of(self.study, entry)
            if not takes_part:
                continue
            values = self.of(entry, size, repeat, wider)[0] | chosen | draw
            regular = self.regular(entry, size[0], repeat, values, grid)
            if any(regular.values()) and not regular[value]:
                return False
        return True

    def regular(self, entry: dict, s: int, repeat: int, values: dict, grid: list[float]) -> dict[float, bool]:
        """At which penalties ridge regression has a solution on all rows of a search that the map may see."""
        fitted, found = self.fitted(entry, s, repeat, values), {}
        for penalty in grid if fitted else []:
            Z, y, seen = fitted
            try:
                ridge(learners_of(self.study, entry)["ridge"], Z[seen], coded(y[seen])[0], penalty)
                found[penalty] = True
            except np.linalg.LinAlgError:
                found[penalty] = False
        return found

    def scores_by_fold(self, entry: dict, size, on: list[int], wider, tried: dict, learner: str, own=None):
        """The scores of a learner's grid under what is tried, ``own`` laid over its options: those of the folds of all
        repeats; None where it has none.
        """
        of_repeats = []
        for repeat, draw in itertools.product(on, self.draws()):
            values = self.of(entry, size, repeat, wider)[0] | tried | draw
            of_repeats.append(self.scores(entry, size[0], repeat, values, learner, own or {}))
            if of_repeats[-1] is None:
                return None
        return {value: [each for scores in of_repeats for each in scores[value]] for value in of_repeats[0]}

    def scores(self, entry: dict, s: int, repeat: int, values: dict, learner: str, own: dict) -> dict | None:
        """The scores of a learner's grid on training rows of a repeat, at most ``tuning_cap`` of them: by folds, or on
        a part that neither map nor learner saw.
        """
        study, options = self.study, learners_of(self.study, entry)[learner] | own
        fitted = self.fitted(entry, s, repeat, values, learner)
        if fitted is None:
            return None
        Z, y, seen = fitted
        if study.held_out:
            parts = [np.isin(np.arange(len(y)), np.flatnonzero(~seen)[k::5]) for k in range(5)]
            scores = [scored_on(learner, options, Z, y, part, seen) for part in parts]
            return {value: [of[value] for of in scores] for value in scores[0]}
        fold = folds(len(y), options["n_folds"], study.seed, "folds", "train", repeat)
        return cross_validated(learner, options, Z, y, fold)

    def fitted(self, entry: dict, s: int, repeat: int, values: dict, learner: str = "ridge"):
        """Features and labels of the training rows of a search, and which of them the map has seen; None where there is
        no map, or the learner is left out.
        """
        study = self.study
        given = conditions(study, self.dataset, entry, values, repeat)
        sample = draw_sample(study, self.dataset, given["preprocess"], repeat)
        X, y = sample.X_train, sample.y_train
        if len(y) > study.tuning_cap:
            generator = np.random.default_rng(seed_sequence(study.seed, "tuning rows"))
            taken = np.sort(generator.choice(len(y), study.tuning_cap, replace=False))
            X, y = X[taken], y[taken]
        seen = np.ones(len(y), dtype=bool)
        if study.held_out:
            seen = ~held_out_rows(len(y), study.held_out, study.seed, "held out", repeat)
        phi = feature_map(study, self.dataset, entry, s, repeat, given)
        try:
            phi.fit(X[seen], y[seen])
        except (NotDefinedError, np.linalg.LinAlgError):
            return None
        if left_out(study, learner, len(sample.y_train), phi.n_columns_):
            return None
        return features(phi, X), y, seen


def plain(entry: dict) -> dict:
    """The entry that represents the kernel of an entry."""
    own = {"kernel": entry["kernel"]} if "kernel" in entry else {}
    return {"method": PLAIN[own.get("kernel", {"name": "gaussian"})["name"]], "options": {}} | own


def conditions(study, dataset: str, entry: dict, values: dict, repeat: int) -> dict:
    """Return the conditions of a cell: from its entry, else from the choice, else from the experiment."""
    scaling = entry.get("scaling") or values.get("preprocess") or study.scaling[dataset]
    kernel = entry.get("kernel", {"name": "gaussian"})
    length_scale = entry.get("length_scale") or values.get("length_scale") or study.length_scale
    if kernel["name"] not in ("gaussian", "laplacian"):
        length_scale = None
    elif length_scale is None:
        rule = study.rule | values.get("bandwidth", {})
        length_scale = length_scale_by(rule, study, dataset, scaling, repeat)
    options = laid_over(entry["options"], values.get("options", {}))
    given = {"preprocess": scaling, "kernel": kernel, "length_scale": length_scale, "options": options}
    return given | {"draw": values.get("draw")}


def learners_of(study, entry: dict) -> dict[str, dict]:
    """The learners that are run on an entry's features, with their options."""
    own = entry.get("learners", {})
    return {
        learner: laid_over(options, own.get(learner, {}))
        for learner, options in study.learners.items()
        if own.get(learner, {}) is not None
    }


def left_out(study, learner: str, n_train: int, n_columns: int) -> bool:
    """Return whether a learner is not run on features of this shape."""
    return learner == "svm" and study.svm_limit is not None and n_train * n_columns > study.svm_limit


def feature_map(study, dataset: str, entry: dict, s: int, repeat: int, given: dict):
    """The unfitted map of a cell: its seed depends on data set, method, size, repeat and, of several, the draw."""
    stated = {"length_scale": given["length_scale"]} if given["length_scale"] else {}
    draw = [] if given.get("draw") is None else [given["draw"]]
    seed = seed_of(study.seed, "features", dataset, entry["method"], s, repeat, *draw)
    return drawn(entry | {"options": given["options"]}, make_kernel(given["kernel"] | stated), s, seed)


def drawn(entry: dict, kernel, s: int, seed: int, **more):
    """The unfitted map of an entry with s features."""
    options = entry.get("options", {}) | more
    return make_map(entry["method"], kernel, n_components=s, random_state=seed, device="cpu", **options)


def name_of(entry: dict) -> dict:
    """Return the names of the rows of an entry."""
    return {"method": entry["method"], "variant": entry.get("variant", "")}


def id_of(kernel: dict) -> str:
    return f"arccos{kernel['order']}" if "order" in kernel else kernel["name"]


def sized(s: int) -> dict:
    """A number of features as columns of the table."""
    return {"n_features": s, "n_features_label": str(s)}


def features(phi, X: np.ndarray) -> np.ndarray:
    """The features of X, float64."""
    return phi.transform(X).astype(np.float64)


def laid_over(base, change):
    """A mapping with another laid over it, level by level."""
    if not isinstance(base, dict) or not isinstance(change, dict):
        return change
    return base | {key: laid_over(base.get(key), value) for key, value in change.items()}


def number(width) -> float:
    """A length scale, or the parameter of a bandwidth rule."""
    return min(width.values()) if isinstance(width, dict) else width
