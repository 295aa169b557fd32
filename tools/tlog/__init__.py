"""The log over HTTP: serving it, reading it from others, asking witnesses, being one (SPEC §16, §17)."""
