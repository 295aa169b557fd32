"""Bytes that survive: frames in segments, one writer, any number of readers. Knows nothing of what a record means."""
