"""Forget, recover, erase: what goes with a record, and how nothing of it remains."""
