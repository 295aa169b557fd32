"""Tone only. Never imports stance."""
