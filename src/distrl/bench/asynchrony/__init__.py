"""Trajectories per minute without a barrier against rounds with one, beside the most that can be had; takes long.

`profiles` says how long episodes last, `fleet` has the devices that wait so long and the policy that thinks so long,
`trial` plays one run through worker, host, spool and pacing, `timeline` is what a run leaves, `figures` makes rates and
ceilings of it, `fairness` asks whether pacing starves slow tasks, `real` puts the real learner and policy in.
`distrl bench async` is the command: a module cannot have that name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distrl.bench.asynchrony.campaign import AsyncCampaign, Keep, Say


def run(campaign: AsyncCampaign, say: Say, keep: Keep) -> dict[str, Any]:
    """The figures of a campaign; see `campaign.Campaign.run`."""
    return campaign.run(say, keep)
