"""Faults injected into a fleet that plays over the real adb: what each one costs, and that nothing is lost or doubled.

Every row of the table is a pair of fleets that play at the same time, each in a process of its own: one is struck by
the fault, its twin is left alone. Throughput kept is what the first played over what the second did. Phones are served
ones with the waits of an emulator; the worker, its device supervisors, the spool, the host and the store are those of every
training. The policy is scripted.
"""

from distrl.bench.faults.campaign import run as run
