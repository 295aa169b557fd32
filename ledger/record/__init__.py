"""What a record says: bodies, envelopes, ids, and whether it stands. Pure."""
