"""Device supervision: one supervisor per device, a ladder of recovery, then quarantine."""
