"""The critic's two value heads, V(s) and V_traj: small MLPs on the decoder's hidden states of the prompt."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Critic(nn.Module):
    """Decoder hidden states → logits of V(s) and of V_traj, each [N].

    The input is the hidden state just before the action, which encodes the next action, and the mean hidden state over
    the prompt, which encodes goal and screen: without the mean it hardly distinguishes tasks. Both are detached: the
    critic's gradients do not reach the decoder.
    """

    def __init__(self, width: int, hidden: int = 128) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.value = self._head(2 * width, hidden)
        self.trajectory_value = self._head(2 * width, hidden)

    def forward(self, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """`states` [N, T, width] of left-padded prompts; `mask` [N, T] is 0 at padding."""
        states, present = states.detach().float(), mask.unsqueeze(-1).float()
        parts = (states[:, -1], (states * present).sum(1) / present.sum(1))
        state = torch.cat([norm(part) for norm, part in zip(self.norms, parts, strict=True)], -1)
        return self.value(state).squeeze(-1), self.trajectory_value(state).squeeze(-1)

    @staticmethod
    def _head(width: int, hidden: int) -> nn.Sequential:
        last = nn.Linear(hidden, 1)
        nn.init.zeros_(last.weight)  # initial value: V = 1/2 everywhere
        nn.init.zeros_(last.bias)
        return nn.Sequential(nn.Linear(width, hidden), nn.SiLU(), last)
