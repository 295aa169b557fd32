"""The tone of texts and of records, and snapshots of it in the log."""
