"""A log's one writer: it creates, composes, signs and appends."""
