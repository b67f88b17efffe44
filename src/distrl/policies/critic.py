"""The two value heads beside the policy: V(s) and V_traj, small MLPs on the decoder's state."""

from __future__ import annotations

from torch import Tensor, nn


class Critic(nn.Module):
    """State features [N, width] → logits of V(s) and of V_traj, each [N].

    The state is the decoder's last hidden vector before the action, detached: the critic learns from the policy's
    reading of the screen and never bends it.
    """

    def __init__(self, width: int, hidden: int = 128) -> None:
        super().__init__()
        self.value = self._head(width, hidden)
        self.trajectory_value = self._head(width, hidden)

    def forward(self, state: Tensor) -> tuple[Tensor, Tensor]:
        state = state.detach().float()
        return self.value(state).squeeze(-1), self.trajectory_value(state).squeeze(-1)

    @staticmethod
    def _head(width: int, hidden: int) -> nn.Sequential:
        last = nn.Linear(hidden, 1)
        nn.init.zeros_(last.weight)  # starts undecided: V = 1/2 everywhere
        nn.init.zeros_(last.bias)
        return nn.Sequential(nn.LayerNorm(width), nn.Linear(width, hidden), nn.SiLU(), last)
