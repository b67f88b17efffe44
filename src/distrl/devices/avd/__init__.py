"""Emulators of the user's Android SDK: `avd://NAME`. Tested with a stand-in emulator only so far (docs/android.md)."""
