"""What the makers of Braid run: fits, ablations, torture, generated tasks, reports and drawings. Never in the wheel."""
