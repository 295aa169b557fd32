"""Author keys, log keys and the vault; what the control records say of them."""
