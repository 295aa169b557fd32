"""Whether what would be told is of whom and what was asked."""
