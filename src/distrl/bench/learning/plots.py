"""The result as SVG pictures: success against time and against trajectories, and where each method ended.

`python -m distrl.bench.learning.plots FOLDER RESULT.json …` draws what was measured before.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from distrl.bench.learning.methods import GROUPS
from distrl.evaluation.charts import Line
from distrl.evaluation.plots import PlotInterval, colour, interval_plot, line_plot


def draw_all(result: Mapping[str, Any], folder: Path) -> list[Path]:
    """Success against time and against trajectories, ablations apart, and where each method ended."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, picture in _pictures(result):
        paths.append(folder / f"{name}.svg")
        paths[-1].write_text(picture + "\n", encoding="utf-8")
    return paths


def _pictures(result: Mapping[str, Any]) -> Iterator[tuple[str, Markup]]:
    suite, methods = result["suite"], result["methods"]
    done = {name: method for name, method in methods.items() if method["final_success"] is not None}
    for group in ("baselines", "ablations", "lag"):
        some = [done[name] for name in GROUPS[group] if name in done]
        if some and (group == "baselines" or len(some) > 1):
            for axis, curve, over in (
                ("seconds", "curve", "time"),
                ("trajectories", "curve_by_trajectories", "trajectories"),
            ):
                lines = [_line(method["label"], method[curve], axis, colour(n)) for n, method in enumerate(some)]
                yield (
                    f"learning-{suite}-{group}-{over}",
                    line_plot(lines, f"{suite}: training success over {over}", axis),
                )
    if done:
        ends = [
            PlotInterval(method["label"], method["final_success"], *method["final_success_ci95"])
            for method in done.values()
        ]
        yield f"learning-{suite}-final", interval_plot(ends, f"{suite}: success on test-instances at the end")


def _line(label: str, curve: Mapping[str, Any], axis: str, style: str) -> Line:
    x, y, low, high = (np.array(curve[name], dtype=float) for name in (axis, "success", "lowest", "highest"))
    return Line(label, x, y, style, low=low, high=high)


if __name__ == "__main__":
    for measured in sys.argv[2:]:
        draw_all(json.loads(Path(measured).read_text(encoding="utf-8")), Path(sys.argv[1]))
