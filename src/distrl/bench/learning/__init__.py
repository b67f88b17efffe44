"""Success of every method from one warm start, for equal wall-clock under equal device latency; takes long.

`methods` is the table of methods. `plan` makes one config per method and seed, `race` starts each as a process of its
own (`job`) and writes a `record` of it, `result` computes figures from the records, `table` and `plots` show them.
Finished runs are not repeated: the same command resumes where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distrl.bench.learning.plan import RacePlan
    from distrl.bench.learning.record import Record


def run(plan: RacePlan, parallel: int, say: Callable[[str], None]) -> list[Record]:
    """The records of all runs of a plan, in its order; see `race.run`."""
    from distrl.bench.learning import race  # late: a job imports this package and needs none of it

    return race.run(plan, parallel, say)
