"""Backups: copies of a log that go on from one another, and coming back from them (SPEC §13.1, §13.2)."""
