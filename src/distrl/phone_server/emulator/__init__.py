"""A stand-in for the Android Emulator: the same command line, console, ports and locks, with a simulated phone inside.

`distrl phone --sdk FOLDER` writes an SDK folder around it, for `avd://` and whatever else starts emulators.
"""
