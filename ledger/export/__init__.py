"""Records away from their log, with what proves them."""
