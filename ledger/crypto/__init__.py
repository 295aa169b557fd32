"""Ciphers, signatures and the puncturable key: bytes in, bytes out."""
