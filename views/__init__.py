"""Projections that can be thrown away and rebuilt by replaying the log."""
