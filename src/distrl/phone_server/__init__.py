"""The simulated phone behind the device side of the ADB protocol, for any ADB client."""
