"""Models that are asked for a store: what they may be told, in which order they are asked, and what it cost."""
