"""The other end of ADB: the simulated phone behind the device side of the protocol, for all that speaks it."""
