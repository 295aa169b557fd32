"""Questions to the memory: the records that fit, and the block of them that a prompt is given."""
