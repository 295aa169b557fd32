"""Meaning, signatures, proof: records, keys, the tree and its heads, verified reads, erasure, audits."""
