"""Whether a sentence says yes or no to what is asked."""
