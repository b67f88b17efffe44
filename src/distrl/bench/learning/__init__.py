"""Success of every method from one warm start, for equal wall-clock under equal device latency; takes long.

`methods` is the table of who takes part. `plan` turns it into one config per method and seed, `race` starts each as a
process of its own (`job`) and keeps a `record` of it, `result` makes figures of the records, `table` and `plots` show
them. What is finished is not run again: the same command goes on where it stopped, and with all records in place it
only counts.
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
