"""What a question asks: of what, of which kind and time, and what must be found first."""
