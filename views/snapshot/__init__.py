"""Snapshots: what the projections held at one size of the log, as files that prove themselves (SPEC §10.11)."""
