"""Answers that cite what they rest on, and how an answer is known."""
