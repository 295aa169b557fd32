"""Verified reads of a log, and what is kept of it so that it is read once."""
