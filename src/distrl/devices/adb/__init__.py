"""Phones over ADB: `adb://SERIAL`. So far only simulated phones have met this code (docs/android.md)."""
