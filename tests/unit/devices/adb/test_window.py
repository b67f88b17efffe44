"""What phones of several ages print, as their sources have it."""

from __future__ import annotations

from distrl.devices.adb.window import Front, fits, parse_size

FOURTEEN = """\
  mCurrentFocus=Window{9a3b1c u0 com.android.chrome/com.google.android.apps.chrome.Main}
  mFocusedApp=ActivityRecord{7a1 u0 com.android.chrome/com.google.android.apps.chrome.Main t24}
    mCurrentRotation=ROTATION_90
"""
EIGHT = """\
  mCurrentFocus=null
  mCurrentFocus=Window{4d1 u0 com.android.launcher3/com.android.launcher3.Launcher}
  mFocusedApp=AppWindowToken{f0 token=Token{1 ActivityRecord{2 u0 com.android.launcher3/.Launcher t1}}}
  mRotation=0 mLastOrientation=1
"""


def test_app_window_and_rotation_are_read():
    front = Front.parse(FOURTEEN)
    assert (front.package, front.activity) == ("com.android.chrome", "com.google.android.apps.chrome.Main")
    assert front.sideways is True
    assert Front.parse(EIGHT).package == "com.android.launcher3"
    assert Front.parse(EIGHT).sideways is False


def test_a_box_over_the_app_is_seen_too():
    text = FOURTEEN.replace("u0 com.android.chrome/com.google.android.apps.chrome.Main}", "u0 com.dialer/.Call}", 1)
    assert Front.parse(text).components == (
        "com.android.chrome/com.google.android.apps.chrome.Main",
        "com.dialer/.Call",
    )


def test_a_phone_that_says_nothing_leaves_it_open():
    assert Front.parse("") == Front()


def test_a_size_that_was_set_goes_before_the_panels():
    assert parse_size("Physical size: 1080x2400\n") == (1080, 2400)
    assert parse_size("Physical size: 1080x2400\nOverride size: 720x1600\n") == (720, 1600)
    assert parse_size("Error") is None


def test_a_picture_fits_when_it_is_turned_as_the_phone_is():
    assert fits((2400, 1080), (1080, 2400), sideways=True)
    assert not fits((1080, 2400), (1080, 2400), sideways=True)
    assert fits((2400, 1080), (1080, 2400), sideways=None)
    assert not fits((2400, 1081), (1080, 2400), sideways=None)
