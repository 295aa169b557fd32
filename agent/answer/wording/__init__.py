"""What was said, as sentences of an answer."""
