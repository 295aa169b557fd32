"""Measurements of Braid on this machine: each figure beside the floor that bounds it, taken in the same run."""
