from __future__ import annotations

import pytest

from distrl.devices.adb.options import AdbOptions, in_network
from distrl.errors import ConfigError, UnknownName


def test_an_address_names_one_phone_several_a_range_or_all():
    assert AdbOptions.parse("adb://emulator-5554").serials == ("emulator-5554",)
    assert AdbOptions.parse("adb://R58M123ABC,10.0.0.7:5555").serials == ("R58M123ABC", "10.0.0.7:5555")
    assert AdbOptions.parse("adb://127.0.0.1:5601-5605").serials == tuple(f"127.0.0.1:{p}" for p in (5601, 5603, 5605))
    assert AdbOptions.parse("adb://*").serials == ()


@pytest.mark.parametrize("address", ["adb://", "adb://a b", "adb://x;reboot", "adb://$(x)", "adb://127.0.0.1:9-5"])
def test_what_names_no_phone_is_refused(address):
    with pytest.raises(ConfigError, match="names no phone"):
        AdbOptions.parse(address)


@pytest.mark.parametrize(
    ("query", "error"),
    [("rest=home", UnknownName), ("reset=hom", UnknownName), ("unblock=calls", UnknownName), ("tree=yes", ConfigError)]
    + [("settle_s=-1", ConfigError), ("call_s=nan", ConfigError), ("dry=2", ConfigError), ("popups=kill", UnknownName)],
)  # fmt: skip
def test_options_that_are_misspelt_are_refused(query, error):
    with pytest.raises(error):
        AdbOptions.parse(f"adb://x?{query}")


def test_the_server_looks_for_phones_only_where_one_is_not_named_by_host_and_port():
    assert not AdbOptions.parse("adb://127.0.0.1:5601,phone.lan:5555").scans
    assert AdbOptions.parse("adb://127.0.0.1:5601,emulator-5554").scans
    assert AdbOptions.parse("adb://*").scans
    assert not AdbOptions.parse("adb://emulator-5586").scans
    assert in_network("[::1]:5555")
    assert not in_network("emulator-5554")
