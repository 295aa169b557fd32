"""The operations of who runs a store, declared by subject in the modules named here."""

from braid.admin import audits, erasure, freeze, keys, projections, settings_operations, status, tokens

__all__ = ["audits", "erasure", "freeze", "keys", "projections", "settings_operations", "status", "tokens"]
