"""Parses the intents of `am` and `monkey`."""

from __future__ import annotations

from dataclasses import dataclass, field

from distrl.errors import DeviceError

PAIRS = ("-e", "--es", "--ei", "--el", "--ez", "--ef", "--eu", "--ecn", "--eia", "--esa", "--ela")
SINGLES = ("--user", "-t", "-f", "--receiver-permission", "--display", "--windowingMode", "-R", "-P", "-i")


class BadIntent(DeviceError):
    """An unknown option of an intent, or one without its value."""


@dataclass(slots=True)
class Intent:
    action: str = ""
    data: str = ""
    component: str = ""
    package: str = ""
    categories: list[str] = field(default_factory=list)
    extras: dict[str, str] = field(default_factory=dict)
    stop_first: bool = False
    """`-S`: stop the app before it is started."""
    wait: bool = False

    @classmethod
    def parse(cls, args: list[str]) -> Intent:
        intent, waiting = cls(), list(args)
        try:
            while waiting:
                intent._take(waiting.pop(0), waiting)
        except IndexError:
            raise BadIntent("Argument expected after the last option") from None
        return intent

    def _take(self, option: str, rest: list[str]) -> None:
        if option in PAIRS:
            key = rest.pop(0)
            self.extras[key] = rest.pop(0)
        elif option in SINGLES:
            rest.pop(0)
        elif option == "-a":
            self.action = rest.pop(0)
        elif option == "-d":
            self.data = rest.pop(0)
        elif option == "-n":
            self.component = rest.pop(0)
        elif option == "-p":
            self.package = rest.pop(0)
        elif option == "-c":
            self.categories.append(rest.pop(0))
        elif option in ("-S", "-W"):
            self.stop_first = self.stop_first or option == "-S"
            self.wait = self.wait or option == "-W"
        elif option.startswith("-"):
            raise BadIntent(f"Unknown option: {option}")
        elif "/" in option:
            self.component = option
        elif "://" in option:
            self.data = option
        else:
            self.package = option

    @property
    def target(self) -> str:
        """The package it names, if any."""
        return self.component.partition("/")[0] or self.package

    def __str__(self) -> str:
        parts = [("act", self.action), ("cat", ",".join(self.categories)), ("dat", self.data), ("cmp", self.component)]
        text = " ".join(f"{name}={value}" for name, value in parts if value)
        return f"Intent {{ {text}{' (has extras)' if self.extras else ''} }}"
