"""DistRL: asynchronous reinforcement learning for agents that use phones."""

__version__ = "0.1.0"
