"""What is learned from what was said."""
