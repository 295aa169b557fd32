"""What is held of what was said: claims gathered, weighed, decided, explained."""
