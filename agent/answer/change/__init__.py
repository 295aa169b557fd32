"""What of a turn no longer holds, or held before: what a later turn says of it."""
