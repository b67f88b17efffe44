"""Keeps phones healthy: one supervisor per device, a ladder of recovery, and quarantine at its top."""
