"""Parses the emulator's command line, as far as the stand-in supports it."""

from __future__ import annotations

from dataclasses import dataclass

FIRST_PORT, LAST_PORT = 5554, 5682
WITH_VALUE = frozenset(
    ("avd", "port", "ports", "snapshot", "gpu", "memory", "grpc", "accel", "cores", "prop", "skin", "timezone")
)
FLAGS = frozenset(
    (
        "read-only", "no-window", "no-audio", "noaudio", "no-boot-anim", "no-snapshot", "no-snapshot-save",
        "no-snapshot-load", "wipe-data", "no-metrics", "no-accel", "verbose", "list-avds", "accel-check", "version",
        "help",
    )
)  # fmt: skip


class Usage(Exception):  # noqa: N818 - printed before the program exits
    """A command line that the emulator refuses."""


@dataclass(frozen=True, slots=True)
class Arguments:
    flags: frozenset[str]
    values: dict[str, str]

    @classmethod
    def parse(cls, words: list[str]) -> Arguments:
        flags: set[str] = set()
        values: dict[str, str] = {}
        rest = list(words)
        while rest:
            word = rest.pop(0)
            name = word.removeprefix("-")
            if word.startswith("@"):
                values["avd"] = word[1:]
            elif word.startswith("-") and name in FLAGS:
                flags.add(name)
            elif word.startswith("-") and name in WITH_VALUE:
                if not rest:
                    raise Usage(f"option -{name} needs a value")
                values[name] = rest.pop(0)
            else:
                raise Usage(f"unknown option: {word}\nplease use -help for a list of valid options")
        return cls(frozenset(flags), values)

    @property
    def port(self) -> int:
        """Of the console; adb's is the next one."""
        text = self.values.get("port") or self.values.get("ports", "").partition(",")[0] or str(FIRST_PORT)
        if not text.isdecimal() or int(text) % 2 or not FIRST_PORT <= int(text) <= LAST_PORT:
            raise Usage(f"option -port must be followed by an even integer number between {FIRST_PORT} and {LAST_PORT}")
        return int(text)

    @property
    def read_only(self) -> bool:
        return "read-only" in self.flags

    @property
    def snapshot(self) -> str:
        """To start from; empty for a cold boot."""
        if self.flags & {"no-snapshot", "no-snapshot-load", "wipe-data"}:
            return ""
        return self.values.get("snapshot", "default_boot")
