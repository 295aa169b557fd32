"""Programs for Braid's makers; none of them is in the wheel."""
