"""What is injected: one row per fault that a fleet must survive, numbered as in docs/faults.md."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from distrl.phone_server.faults import FOREVER
from distrl.phone_server.phone import ServedPhone

SNAPSHOTS = "reset=snapshot&snapshot=clean&load_s=5&boot_s=20"

Touch = Callable[[ServedPhone], None]


@dataclass(frozen=True)
class Row:
    number: int
    what: str
    strike: Touch | None = None
    """What is done to a phone, once, while it plays."""
    before: Touch | None = None
    """What is done to a struck phone before anybody plays."""
    struck: float = 1.0
    """Share of the phones that are struck."""
    query: str = ""
    """Options of the address, of the twin's too."""
    fleet: str = "adb"
    """adb: served phones. avd: emulators of the stand-in SDK."""
    orders: tuple[str, ...] = ()
    """avd: what goes wrong with the first launches."""
    kill: str = ""
    """What is killed, once: `server`, this worker's adb server, or `emulator`, each of them in turn."""
    judge: str = "lenient"
    """`vlm` asks a stub endpoint over HTTP; in the struck fleet every second answer of it is none."""
    policy_client: str = "mover"
    """`mumbler` writes what is no action in every third step, and never ends every third episode. It plays in both
    fleets: the twin of a policy that cannot write would be no twin."""


def ordered(*names: str, seconds: float | None = None, times: int = 1) -> Touch:
    def touch(phone: ServedPhone) -> None:
        for name in names:
            phone.fault_injector.schedule(name, seconds, times)

    return touch


def restarted(touch: Touch) -> Touch:
    """For what strikes at a boot."""

    def touch_and_restart(phone: ServedPhone) -> None:
        touch(phone)
        phone.reboot()

    return touch_and_restart


def fill(phone: ServedPhone) -> None:
    phone.files.full = True


ROWS = (
    Row(1, "an adb call never returns", ordered("hang-input")),
    Row(2, "offline for 5 s", ordered("offline")),
    Row(3, "the worker's adb server is killed", kill="server"),
    Row(4, "two phones of eight trust nobody", before=ordered("unauthorized", times=10_000), struck=0.25),
    Row(5, "unplugged for 10 s in an episode", ordered("unplug", seconds=10.0)),
    Row(6, "frozen", ordered("freeze")),
    Row(7, "emulator killed", fleet="avd", kill="emulator"),
    Row(
        8,
        "two phones of eight restart and never boot",
        restarted(ordered("slow-boot", seconds=FOREVER, times=1000)),
        struck=0.25,
    ),
    Row(9, "snapshots that hang or lie", fleet="avd", orders=("snapshot-hangs", "snapshot-lies"), query=SNAPSHOTS),
    Row(
        10,
        "three screenshots empty, cut off, garbled",
        ordered("empty-screencap", "truncated-screencap", "garbled-screencap"),
    ),
    Row(11, "all-black screen", ordered("black-screencap", times=3)),
    Row(12, "UI dump never idle", ordered("not-idle-dump"), query="tree=1"),
    Row(13, "app isn't responding", ordered("anr")),
    Row(14, "clock an hour ahead", before=restarted(ordered("clock-off"))),
    Row(15, "storage full", fill),
    Row(24, "judge: 429, 5xx, timeouts, garbage", judge="vlm"),
    Row(25, "no action, endless episodes", policy_client="mumbler"),
)


def row(number: int) -> Row:
    return next(each for each in ROWS if each.number == number)
