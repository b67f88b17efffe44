"""Keeps phones healthy: one caretaker per device, a ladder of recovery, and quarantine at its top."""
