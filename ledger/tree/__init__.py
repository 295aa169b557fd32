"""The Merkle tree, its tiles, its signed heads, and proofs under them."""
