"""Ratios of times as dots on one logarithmic axis, each with the bound that it should stay below."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from rfstudy.report.aggregate import select, settings_of
from rfstudy.report.style import TEXT_WIDTH, style


def draw(frame, spec: dict, methods: dict, datasets: dict) -> Figure:
    """One row per comparison: a dot at the measured ratio, a bracket at its bound, filled where it is kept."""
    frame = select(frame, metric="time_ratio")
    settings = settings_of(frame)
    with style():
        figure, axes = plt.subplots(figsize=(TEXT_WIDTH, 0.9 + 0.22 * len(settings)), layout="constrained")
        for row, (ratio, setting) in enumerate(zip(frame["value"], settings, strict=True)):
            kept = ratio <= setting["bar"]
            axes.plot([ratio, setting["bar"]], [row, row], color="#BBBBBB", linewidth=1.0, zorder=1)
            axes.plot(setting["bar"], row, marker="|", color="black", markersize=9, markeredgewidth=1.2, zorder=2)
            face = "#0072B2" if kept else "white"
            axes.plot(ratio, row, marker="o", color="#0072B2", markerfacecolor=face, markersize=5, zorder=3)
        axes.axvline(1.0, color="#888888", linewidth=0.6, zorder=0)
        axes.set_yticks(range(len(settings)), [f"{s['what']}  /  {s['against']}" for s in settings])
        axes.set_ylim(len(settings) - 0.5, -0.5)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xlabel("ratio of times (filled: within its bound, marked by a bar)")
        axes.grid(axis="y", visible=False)
    return figure
