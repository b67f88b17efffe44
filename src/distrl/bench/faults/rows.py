"""The faults that are injected: one row per fault that a fleet must survive, numbered as in the bench's table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from distrl.phone_server.faults import FOREVER
from distrl.phone_server.phone import ServedPhone

SNAPSHOTS = "reset=snapshot&snapshot=clean&load_s=5&boot_s=20"

Injection = Callable[[ServedPhone], None]


@dataclass(frozen=True)
class FaultRow:
    number: int
    what: str
    inject: Injection | None = None
    """Injects the fault into a phone, once, while it plays."""
    before: Injection | None = None
    """Done to a faulted phone before the fleet starts to play."""
    faulted_share: float = 1.0
    """Share of the phones into which the fault is injected."""
    query: str = ""
    """Options of the device address, in both fleets."""
    fleet: str = "adb"
    """adb: served phones. avd: emulators of the stand-in SDK."""
    orders: tuple[str, ...] = ()
    """avd: what goes wrong with the first launches."""
    kill: str = ""
    """What is killed, once: `server`, this worker's adb server, or `emulator`, each of them in turn."""
    judge: str = "always_success"
    """`vlm` asks a stub endpoint over HTTP; in the faulted fleet every second answer is no verdict."""
    policy_client: str = "fixed_moves"
    """`malformed_actions` writes text that is no action in every third step, and never ends every third episode. It
    plays in both fleets, so that they stay comparable."""


def ordered(*names: str, seconds: float | None = None, times: int = 1) -> Injection:
    def inject(phone: ServedPhone) -> None:
        for name in names:
            phone.fault_injector.schedule(name, seconds, times)

    return inject


def restarted(inject: Injection) -> Injection:
    """For faults that take effect at boot."""

    def inject_and_restart(phone: ServedPhone) -> None:
        inject(phone)
        phone.reboot()

    return inject_and_restart


def fill(phone: ServedPhone) -> None:
    phone.files.full = True


ROWS = (
    FaultRow(1, "an adb call never returns", ordered("hang-input")),
    FaultRow(2, "offline for 5 s", ordered("offline")),
    FaultRow(3, "the worker's adb server is killed", kill="server"),
    FaultRow(4, "two phones of eight unauthorized", before=ordered("unauthorized", times=10_000), faulted_share=0.25),
    FaultRow(5, "unplugged for 10 s in an episode", ordered("unplug", seconds=10.0)),
    FaultRow(6, "frozen", ordered("freeze")),
    FaultRow(7, "emulator killed", fleet="avd", kill="emulator"),
    FaultRow(
        8,
        "two phones of eight restart and never boot",
        restarted(ordered("slow-boot", seconds=FOREVER, times=1000)),
        faulted_share=0.25,
    ),
    FaultRow(9, "snapshots that hang or lie", fleet="avd", orders=("snapshot-hangs", "snapshot-lies"), query=SNAPSHOTS),
    FaultRow(
        10,
        "three screenshots empty, cut off, garbled",
        ordered("empty-screencap", "truncated-screencap", "garbled-screencap"),
    ),
    FaultRow(11, "all-black screen", ordered("black-screencap", times=3)),
    FaultRow(12, "UI dump never idle", ordered("not-idle-dump"), query="tree=1"),
    FaultRow(13, "app isn't responding", ordered("anr")),
    FaultRow(14, "clock an hour ahead", before=restarted(ordered("clock-off"))),
    FaultRow(15, "storage full", fill),
    FaultRow(24, "judge: 429, 5xx, timeouts, garbage", judge="vlm"),
    FaultRow(25, "no action, endless episodes", policy_client="malformed_actions"),
)


def row(number: int) -> FaultRow:
    return next(each for each in ROWS if each.number == number)
