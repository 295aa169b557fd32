"""Jobs: what waits, what is at work, what is dead; and working it off."""
