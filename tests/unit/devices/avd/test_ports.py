"""One owner per pair of ports, whoever asks and however many at once."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distrl.devices.avd import ports
from distrl.errors import NoEmulator
from distrl.ports import LOOPBACK

FEW = 6
CLAIMING = """
import sys
from distrl.devices.avd.ports import claim_ports
held = [claim_ports() for _ in range(int(sys.argv[1]))]
print(*(pair.port for pair in held), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Claims of this test only: not those of other tests that run now."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


@settings(max_examples=20, deadline=None)
@given(st.lists(st.sampled_from(["claim", "give back"]), max_size=12))
def test_no_two_claims_are_on_one_port(steps):
    held: list[ports.PortPair] = []
    try:
        for step in steps:
            if step == "claim":
                held.append(ports.claim_ports())
            elif held:
                held.pop(0).release()
            assert len({pair.port for pair in held}) == len(held)
            assert all(pair.port % 2 == 0 and 5586 <= pair.port <= 5682 for pair in held)
    finally:
        for pair in held:
            pair.release()


def test_no_two_processes_get_one_port(folder):
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", CLAIMING, str(FEW)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    claimed = [int(word) for process in processes for word in process.stdout.readline().split()]
    for process in processes:
        process.stdin.close()
        process.wait()
        process.stdout.close()
    assert len(claimed) == len(set(claimed)) == 4 * FEW


@pytest.mark.parametrize("which", [0, 1])
def test_a_port_that_another_program_listens_on_is_passed_over(folder, which):
    pair = ports.claim_ports()
    pair.release()
    with socket.create_server((LOOPBACK, pair.port + which)):
        other = ports.claim_ports()
        assert other.port != pair.port
        other.release()


def test_the_last_port_is_left_alone_and_the_end_of_ports_is_an_error(folder, monkeypatch):
    monkeypatch.setattr(ports, "PORTS", ports.PORTS[:2])
    first = ports.claim_ports(avoid=(ports.PORTS[0],))
    assert first.port == ports.PORTS[1]
    with pytest.raises(NoEmulator, match="lower devices.per_worker"):
        ports.claim_ports(avoid=(ports.PORTS[0],))
    first.release()


def test_a_note_that_cannot_be_read_is_removed_and_ends_nobody(folder):
    (ports.session_folder() / f"emulator-{ports.PORTS[0]}.json").write_text('{"leader": 1}')
    assert ports.end_orphans() == []
    assert not list(ports.session_folder().glob("*.json"))
