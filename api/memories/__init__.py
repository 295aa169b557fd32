"""Memories that change: modified, forgotten by what they say, with every change in their history."""
