"""The phone's files: a small tree in memory. Nothing of the host's disk is ever read or written."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import dataclass
from posixpath import normpath

from distrl.errors import DeviceError

CAPACITY = 128 * 1024 * 1024
FOLDERS = ("/", "/data", "/data/local", "/data/local/tmp", "/sdcard", "/sdcard/Download", "/system", "/proc", "/dev")
ALIASES = ("/storage/emulated/0", "/storage/self/primary", "/mnt/sdcard")
"""Other names of /sdcard."""


class FileProblem(DeviceError):
    """An error of a file operation, with the text of the kernel."""


@dataclass(frozen=True, slots=True)
class Node:
    mode: int
    data: bytes = b""
    mtime: int = 0

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.mode)


class Files:
    """Paths are absolute and normalised. While `full` is set, every write fails."""

    def __init__(self, now: int, *, full: bool = False) -> None:
        self._nodes = {path: Node(stat.S_IFDIR | 0o771, mtime=now) for path in FOLDERS}
        self.full = full

    def find(self, path: str) -> Node | None:
        return self._nodes.get(resolve(path))

    def get(self, path: str) -> Node:
        node = self.find(path)
        if node is None:
            raise FileProblem("No such file or directory")
        return node

    def read(self, path: str) -> bytes:
        node = self.get(path)
        if node.is_folder:
            raise FileProblem("Is a directory")
        return node.data

    def write(self, path: str, data: bytes, mtime: int, mode: int = 0o660) -> None:
        path = resolve(path)
        before = self._nodes.get(path)
        if before is not None and before.is_folder:
            raise FileProblem("Is a directory")
        if self.full or self.used - len(before.data if before else b"") + len(data) > CAPACITY:
            raise FileProblem("No space left on device")
        parent = self._nodes.get(path.rpartition("/")[0] or "/")
        if parent is None or not parent.is_folder:
            raise FileProblem("No such file or directory")
        self._nodes[path] = Node(stat.S_IFREG | (mode & 0o777), data, mtime)

    def make_folder(self, path: str, mtime: int) -> None:
        """Makes its parents too."""
        path = resolve(path)
        if path in self._nodes:
            if not self._nodes[path].is_folder:
                raise FileProblem("Not a directory")
            return
        self.make_folder(path.rpartition("/")[0] or "/", mtime)
        self._nodes[path] = Node(stat.S_IFDIR | 0o771, mtime=mtime)

    def remove(self, path: str) -> None:
        """Removes a folder with its contents; the built-in folders are emptied and stay."""
        path = resolve(path)
        self.get(path)
        for name in [name for name in self._nodes if name == path or name.startswith(path.rstrip("/") + "/")]:
            if name not in FOLDERS:
                del self._nodes[name]

    def children(self, path: str) -> Iterator[tuple[str, Node]]:
        """Name and node of what is in a folder, sorted."""
        prefix = resolve(path).rstrip("/") + "/"
        for name in sorted(self._nodes):
            if name.startswith(prefix) and len(name) > len(prefix) and "/" not in name[len(prefix) :]:
                yield name[len(prefix) :], self._nodes[name]

    @property
    def used(self) -> int:
        return sum(len(node.data) for node in self._nodes.values())


def resolve(path: str) -> str:
    path = normpath("/" + path).replace("//", "/")
    for alias in ALIASES:
        if path == alias or path.startswith(alias + "/"):
            return "/sdcard" + path[len(alias) :]
    return path
