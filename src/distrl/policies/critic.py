"""The two value heads beside the policy: V(s) and V_traj, small MLPs on what the decoder makes of the prompt."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Critic(nn.Module):
    """What the decoder knows → logits of V(s) and of V_traj, each [N].

    It is given the decoder's vector just before the action, which says what is about to be done, and the mean of its
    vectors over the whole prompt, which says what is asked and seen: without the second it can hardly tell one task
    from another. Both detached: the critic learns from the policy's reading of the screen and never bends it.
    """

    def __init__(self, width: int, hidden: int = 128) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.value = self._head(2 * width, hidden)
        self.trajectory_value = self._head(2 * width, hidden)

    def forward(self, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """`states` [N, T, width] of a prompt whose last token is the last; `mask` [N, T] is 0 where it is padded."""
        states, there = states.detach().float(), mask.unsqueeze(-1).float()
        parts = (states[:, -1], (states * there).sum(1) / there.sum(1))
        state = torch.cat([norm(part) for norm, part in zip(self.norms, parts, strict=True)], -1)
        return self.value(state).squeeze(-1), self.trajectory_value(state).squeeze(-1)

    @staticmethod
    def _head(width: int, hidden: int) -> nn.Sequential:
        last = nn.Linear(hidden, 1)
        nn.init.zeros_(last.weight)  # starts undecided: V = 1/2 everywhere
        nn.init.zeros_(last.bias)
        return nn.Sequential(nn.Linear(width, hidden), nn.SiLU(), last)
