"""Faults injected into a fleet that plays over the real adb: what each one costs, and that nothing is lost or doubled.

Every row of the table is a pair of fleets that play at the same time, each in a process of its own: one has the fault
injected, the other is the control. Throughput kept is the episodes of the first over those of the control. Phones are
served ones with the latency of an emulator; worker, device recovery, spool, host and store are those of every training.
The policy is scripted.
"""

from distrl.bench.faults.campaign import run as run
