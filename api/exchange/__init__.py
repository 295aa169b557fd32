"""Records that leave a store with their evidence, and come into another."""
