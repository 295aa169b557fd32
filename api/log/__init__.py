"""What goes into the log and what is read back of it."""
