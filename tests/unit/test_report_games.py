"""The pictures of learned features, drawn of the games that are shipped: what they show is what was measured."""

import numpy as np
import report_rows

from rfstudy.report.context import Context
from rfstudy.report.plots import plane, sphere

MEASURED = report_rows.ROOT / "data" / "measured"


def drawn(name):
    spec = report_rows.spec_of(name, "nsrf")
    files = [MEASURED / f"{experiment}.csv.xz" for experiment in spec["experiments"]]
    context = Context.read(
        files, spec["experiments"], report_rows.METHODS, report_rows.REGISTERED, report_rows.REFERENCE
    )
    return report_rows.picture(spec, context).figure


def test_pictures_in_the_plane_name_what_they_show():
    figure = drawn("figure-01a-text")
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == [
        "class -1", "class +1", "decision boundary", "margin", "frequencies so far", "those of the last round",
    ]  # fmt: skip
    of_kind = {kind: [ax for ax in figure.axes if f" {kind}, " in ax.get_title()] for kind in plane.LAYERS}
    of_kind["weights"] = [ax for ax in figure.axes if "dual weights" in ax.get_title()]
    for kind, (x, y) in {"weights": ("$x_1$", "$x_2$"), "potential": (r"$\omega_1$", r"$\omega_2$"),
                         "decision": ("$x_1$", "$x_2$")}.items():  # fmt: skip
        assert of_kind[kind]
        assert {ax.get_xlabel() for ax in of_kind[kind]} == {x}
        assert {ax.get_ylabel() for ax in of_kind[kind]} == {y}
    for ax in of_kind["potential"]:
        for points in (each.get_offsets() for each in ax.collections):
            np.testing.assert_allclose(points[: len(points) // 2], -points[len(points) // 2 :])  # both of a pair
    for ax in of_kind["decision"]:
        assert [each.levels.tolist() for each in ax.collections] == [[0.0], [-1.0, 1.0]]
        low, high = ax.images[0].get_clim()
        assert f"from {low:g} to {high:g}." in plane.LAYERS["decision"][1]
    # the last round's frequencies alone have the last colour: as many as a round keeps, and their opposites
    last = [each for each in of_kind["potential"][-1].collections if len(each.get_offsets())][-1]
    assert len(last.get_offsets()) == 2 * 10


def test_harmonics_are_named_by_order_and_degree_with_how_often_they_were_chosen():
    context = Context.read(
        [MEASURED / "nsrf-checkerboard.csv.xz"], ["nsrf-checkerboard"], report_rows.METHODS, report_rows.REGISTERED,
        report_rows.REFERENCE,
    )  # fmt: skip
    spec = report_rows.spec_of("figure-01c-text", "nsrf")
    found = plane.kept_of(context, spec["dataset"], spec["method"])
    titles = [ax.get_title() for ax in report_rows.picture(spec, context).figure.axes]
    (degree, order), count = found["pairs"][0], found["counts"][0]
    assert titles[0] == "(a) data"
    assert titles[1] == f"(b) $Y_{{{order},{degree}}}$, {count} of {found['counts'].sum()}"
    assert len(titles) == 1 + len(found["waves"])


def test_a_globe_shows_the_side_that_is_seen():
    """Each coordinate, as a function on the sphere, is at a point of the picture that of the point behind it."""
    polar = np.linspace(0, np.pi, 181)[:, None]
    azimuth = np.radians(np.arange(360))
    coordinates = [np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar) + 0 * azimuth]
    pictures = [sphere.on_globe(each) for each in coordinates]
    right, up, towards = sphere.seen()
    np.testing.assert_allclose(towards, [0.8517, 0.3100, 0.4226], atol=1e-4)  # 20 degrees east, 25 north
    ticks = np.linspace(-1, 1, sphere.PIXELS)
    for i, j in ((200, 200), (100, 250), (330, 180), (60, 200)):
        a, b = ticks[j], ticks[i]
        point = a * right + b * up + np.sqrt(1 - a * a - b * b) * towards
        np.testing.assert_allclose([each[i, j] for each in pictures], point, atol=0.02)
    assert np.isnan(pictures[0][0, 0])


def test_the_points_of_a_sphere_are_those_that_face_the_eye():
    context = Context.read(
        [MEASURED / "nsrf-checkerboard.csv.xz"], ["nsrf-checkerboard"], report_rows.METHODS, report_rows.REGISTERED,
        report_rows.REFERENCE,
    )  # fmt: skip
    spec = report_rows.spec_of("figure-01c-text", "nsrf")
    found, picture = plane.kept_of(context, spec["dataset"], spec["method"]), report_rows.picture(spec, context)
    right, up, towards = sphere.seen()
    for label, points in zip(np.unique(found["y"]), picture.figure.axes[0].collections, strict=False):
        own = found["X"][(found["y"] == label) & (found["X"] @ towards > 0)]
        np.testing.assert_allclose(points.get_offsets(), np.stack([own @ right, own @ up], axis=1), atol=1e-5)
