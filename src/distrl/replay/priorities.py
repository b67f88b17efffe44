"""A sum tree in one array: sample by weight and change weights in O(log n), for many leaves at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from distrl.types import Floats

Indices = npt.NDArray[np.integer[Any]]


class SumTree:
    """Node i has the children 2i and 2i+1; node 1 is the root; the leaves are the last `size` nodes."""

    def __init__(self, capacity: int) -> None:
        self.depth = max(capacity - 1, 1).bit_length()
        self.size = 1 << self.depth
        self.nodes = np.zeros(2 * self.size)

    @property
    def total(self) -> float:
        return float(self.nodes[1])

    def get(self, leaves: Indices) -> Floats:
        return np.asarray(self.nodes[self.size + leaves])

    def set(self, leaves: Indices, weights: Floats) -> None:
        """Sums are recomputed from the children, not adjusted by differences: rounding errors do not accumulate."""
        nodes = self.size + leaves
        self.nodes[nodes] = weights
        for _ in range(self.depth):
            nodes = nodes >> 1
            self.nodes[nodes] = self.nodes[2 * nodes] + self.nodes[2 * nodes + 1]

    def set_one(self, leaf: int, weight: float) -> None:
        """The same for a single leaf; arrays of one element would take ten times as long."""
        nodes, node = self.nodes, self.size + leaf
        nodes[node] = weight
        while node > 1:
            node >>= 1
            nodes[node] = nodes[2 * node] + nodes[2 * node + 1]

    def find(self, points: Floats) -> Indices:
        """The leaf under each point of [0, total): a leaf covers as much of that line as its weight."""
        nodes = np.ones(len(points), dtype=np.int64)
        rest = np.array(points, dtype=np.float64)
        for _ in range(self.depth):
            left = 2 * nodes
            weight = self.nodes[left]
            # An empty right side is never entered: rounding could push a point past the end of the line.
            right = (rest >= weight) & (self.nodes[left + 1] > 0.0)
            rest -= np.where(right, weight, 0.0)
            nodes = left + right
        return nodes - self.size
