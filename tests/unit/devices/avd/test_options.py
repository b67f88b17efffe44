"""What an `avd://` address may say."""

from __future__ import annotations

import pytest

from distrl.devices.adb.options import AdbOptions
from distrl.devices.avd.options import AvdOptions
from distrl.devices.open import open_device
from distrl.errors import ConfigError, UnknownName


def test_a_bare_name_is_enough():
    options = AvdOptions.parse("avd://Pixel_7")
    assert options == AvdOptions(name="Pixel_7", adb="")
    assert options.phone(5586) == "adb://emulator-5586"


def test_options_are_shared_out_between_the_emulator_and_the_phone_in_it():
    options = AvdOptions.parse(
        "avd://Pixel_7?count=4&snapshot=clean&boot_s=90&load_s=9&recycle=0&window=1&gpu=host&memory=4096"
        "&reset=clear&app=org.example&tree=1&allow=a.b,c.d"
    )
    assert (options.count, options.snapshot, options.loads, options.recycle) == (4, "clean", False, 0)
    assert (options.boot_s, options.load_s, options.window, options.gpu, options.memory) == (90, 9, True, "host", 4096)
    phone = AdbOptions.parse(options.phone(5600))
    assert (phone.serials, phone.reset, phone.app, phone.tree) == (("emulator-5600",), "clear", "org.example", True)
    assert phone.allow == ("a.b", "c.d")


def test_a_reset_by_snapshot_is_the_emulators_business_and_the_phone_does_the_rest():
    options = AvdOptions.parse("avd://Pixel_7?snapshot=clean&reset=snapshot")
    assert options.loads
    assert AdbOptions.parse(options.phone(5586)).reset == "auto"


@pytest.mark.parametrize(
    ("address", "error", "message"),
    [
        ("avd://", ConfigError, "names no AVD"),
        ("avd://a,b", ConfigError, "names no AVD"),
        ("avd://../etc", ConfigError, "names no AVD"),
        ("avd://Pixel_7?cuont=3", UnknownName, "Did you mean 'count'"),
        ("avd://Pixel_7?tere=1", UnknownName, "Did you mean 'tree'"),
        ("avd://Pixel_7?count=0", ConfigError, "count='0' must be a whole number from 1 to 49"),
        ("avd://Pixel_7?count=many", ConfigError, "count='many'"),
        ("avd://Pixel_7?boot_s=0", ConfigError, "boot_s='0' must be a number of seconds"),
        ("avd://Pixel_7?boot_s=nan", ConfigError, "boot_s='nan' must be a number of seconds"),
        ("avd://Pixel_7?window=yes", ConfigError, "window='yes'"),
        ("avd://Pixel_7?memory=1", ConfigError, "from 128 to 65536"),
        ("avd://Pixel_7?gpu=-qemu", ConfigError, "gpu='-qemu' must be a word"),
        ("avd://Pixel_7?snapshot=a%20b", ConfigError, "snapshot='a b' must be a word"),
        ("avd://Pixel_7?reset=snapshot", ConfigError, "add snapshot=NAME"),
        ("avd://Pixel_7?reset=snpashot", UnknownName, "Did you mean 'snapshot'"),
        ("avd://Pixel_7?wipe=all", UnknownName, "Known: avd, data"),
        ("avd://Pixel_7?wipe=data&snapshot=clean", ConfigError, "leave out one"),
        ("avd://Pixel_7?settle_s=-1", ConfigError, "settle_s='-1'"),
    ],
)
def test_what_cannot_be_meant_is_refused_when_the_device_is_opened(address, error, message):
    with pytest.raises(error, match=message):
        open_device(address, seed=0, name="test/0")
