"""Models that are asked for a store: what they may be shown, in which order they are asked, and what it cost."""
