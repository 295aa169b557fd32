"""Measurements of this machine and of Braid on it: each figure beside the floor that bounds it, taken in the same run."""
