"""The config `adb` is the quickstart with other phones, and nothing else."""

from __future__ import annotations

from distrl.config import load_config


def test_the_config_adb_differs_from_quickstart_in_its_phones_and_its_time():
    quickstart, adb = load_config("quickstart"), load_config("adb")
    assert adb.devices.address == "adb://127.0.0.1:5601-5615"
    same = {"run": quickstart.run, "devices": quickstart.devices}
    assert adb.model_copy(update=same) == quickstart
