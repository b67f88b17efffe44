"""A machine that joins a training: one process that watches, one that plays and may come to any end.

The member (`distrl.runtime.ray.join_process`) holds the Ray node; a Ray that loses its head ends the process it lives
in. The watcher starts it again when the training is back. The member leaves in good order when its standard input
closes, so also when the watcher is killed. No signal is sent to anybody.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from distrl.errors import CannotJoin
from distrl.runtime.interrupt import Interrupt

MEMBER = "distrl.runtime.ray.join_process"
GONE = 75
"""Exit status of a member whose training went away: try again later."""
RETRY_S = 2.0
WATCH_S = 0.2
LAST_WORDS = 12

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Offer:
    """What this machine brings along, and where it goes."""

    address: str
    """Of the training's Ray, or `auto` for the node that runs here already."""
    name: str
    overrides: tuple[str, ...]
    spool: str
    token: str | None = None
    run: str | None = None
    """Which training, where several run on one Ray."""
    listen: str | None = None
    """Address of this machine for the others; null: as seen from theirs."""
    node_resources: dict[str, float] | None = None


def join(offer: Offer, say: Say) -> int:
    """Play for a training until it is over or somebody interrupts: 0. Raises `CannotJoin` when it refuses us."""
    from distrl.runtime.ray.cluster import PREFIX

    with Interrupt() as interrupt:
        while True:
            folder = Path(tempfile.mkdtemp(prefix=PREFIX))
            try:
                code = _play(offer, folder, say, interrupt)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            if code != GONE or interrupt.requested:
                return code
            if not _wait_for(offer, interrupt):
                return 0


def _wait_for(offer: Offer, interrupt: Interrupt) -> bool:
    """Until the address answers; False after an interrupt."""
    from distrl.runtime.ray.node import AUTO, answers

    while not interrupt.requested:
        time.sleep(RETRY_S)
        if offer.address == AUTO or answers(offer.address):
            return True
    return False


def _play(offer: Offer, folder: Path, say: Say, interrupt: Interrupt) -> int:
    log = folder / "member.log"
    with log.open("w") as errors:
        member = subprocess.Popen(
            [sys.executable, "-m", MEMBER, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,  # Ctrl-C in the terminal is ours to hear; the member hears it from us
        )
    assert member.stdin is not None
    member.stdin.write(json.dumps(asdict(offer)) + "\n")
    member.stdin.flush()
    told = _Told(member, say)
    while member.poll() is None:
        time.sleep(WATCH_S)
        if interrupt.requested and not member.stdin.closed:
            say("Leaving: what is being played goes back, what is finished is delivered …")
            member.stdin.close()
    told.finish()
    if member.returncode not in (0, GONE):
        raise CannotJoin(told.error or f"The worker ended unexpectedly:\n{_last_words(log)}")
    return member.returncode


class _Told:
    """What a member says, line by line. Lines that are not ours (Ray's) are passed over."""

    def __init__(self, member: subprocess.Popen[str], say: Say) -> None:
        self.error = ""
        self._say = say
        self._member = member
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def finish(self) -> None:
        self._thread.join(timeout=5.0)

    def _listen(self) -> None:
        assert self._member.stdout is not None
        for line in self._member.stdout:
            try:
                tree = json.loads(line)
            except ValueError:
                continue
            if isinstance(tree, dict) and "say" in tree:
                self._say(str(tree["say"]))
            elif isinstance(tree, dict) and "error" in tree:
                self.error = str(tree["error"])


def _last_words(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-LAST_WORDS:])
