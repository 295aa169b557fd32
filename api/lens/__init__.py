"""How the past looks through a lens: views applied, kept, found stale, made again, compared."""
