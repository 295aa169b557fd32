"""What an operator does with a store: forget and erase, keep keys, audit, rebuild projections, see how it stands."""
