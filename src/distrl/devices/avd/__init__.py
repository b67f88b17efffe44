"""Emulators of the user's Android SDK: `avd://NAME`. So far only a stand-in has met this code (docs/android.md)."""
