"""A machine that joins a training: one process that watches, and one that joins and may come to any end.

The joining process (`distrl.runtime.ray.join_process`) starts and uses the Ray node; a Ray that loses its head may end
the process that uses it. The watcher starts it again when the training is back. The joining process leaves in good
order when its standard input closes, so also when the watcher is killed. No signal is sent to anybody.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from distrl.errors import CannotJoin
from distrl.runtime.interrupt import Interrupt
from distrl.runtime.ray.environment import PREFIX, answers, of_joining_process
from distrl.runtime.ray.node import last_lines

JOIN_PROCESS = "distrl.runtime.ray.join_process"
TRY_AGAIN = 75
"""Exit status of a joining process whose training went away, or whose Ray was too slow to start."""
RETRY_S = 2.0
WATCH_S = 0.2

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
    with Interrupt() as interrupt:
        while True:
            with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as folder:
                code = _play(offer, Path(folder), say, interrupt)
            if code != TRY_AGAIN or interrupt.requested:
                return code
            if not _wait_for(offer.address, interrupt):
                return 0


def _wait_for(address: str, interrupt: Interrupt) -> bool:
    """Until the address answers; False after an interrupt."""
    while not interrupt.requested:
        time.sleep(RETRY_S)
        if answers(address):
            return True
    return False


def _play(offer: Offer, folder: Path, say: Say, interrupt: Interrupt) -> int:
    log = folder / "join.log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", JOIN_PROCESS, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,  # Ctrl-C in the terminal is ours to hear; the process hears it from us
            env={**os.environ, **of_joining_process(offer.address, offer.token)},
        )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(asdict(offer)) + "\n")
    process.stdin.flush()
    told: list[str] = []
    listener = threading.Thread(target=_listen, args=(process.stdout, say, told), daemon=True)
    listener.start()
    while process.poll() is None:
        time.sleep(WATCH_S)
        if interrupt.requested and not process.stdin.closed:
            say("Leaving: what is being played goes back, what is finished is delivered …")
            process.stdin.close()
    listener.join(timeout=5.0)
    if process.returncode not in (0, TRY_AGAIN):
        if not told and not answers(offer.address):
            return TRY_AGAIN  # Ray noticed that the training is gone before the process did, and ended it
        raise CannotJoin(told[-1] if told else f"The worker ended unexpectedly:\n{last_lines(log)}")
    return process.returncode


def _listen(lines: IO[str], say: Say, errors: list[str]) -> None:
    """What the joining process reports. Lines that are not its own (Ray's) are passed over."""
    for line in lines:
        try:
            tree = json.loads(line)
        except ValueError:
            continue
        if isinstance(tree, dict) and "say" in tree:
            say(str(tree["say"]))
        elif isinstance(tree, dict) and "error" in tree:
            errors.append(str(tree["error"]))
