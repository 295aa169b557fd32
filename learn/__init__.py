"""Learning: what was said, read for what it states. Raw records in, drafts of new ones out; appends nothing."""
