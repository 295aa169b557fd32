"""A log as others read it: offered, published, mirrored, and checked from outside."""
