"""Trajectories per minute, asynchronous against synchronous rounds, with the theoretical maximum of both; takes long.

`profiles` has the distributions of episode times, `fleet` the devices and the policy that wait for so long, `trial`
plays one run through worker, host, spool and pacing, `timeline` is the record of a run, `figures` computes rates and
ceilings, `fairness` checks whether pacing starves slow tasks, `real` uses the real learner and policy. `distrl bench
async` is the command: a module cannot have that name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distrl.bench.asynchrony.campaign import AsyncCampaign, Keep, Say


def run(campaign: AsyncCampaign, say: Say, keep: Keep) -> dict[str, Any]:
    """The figures of a campaign; see `campaign.Campaign.run`."""
    return campaign.run(say, keep)
