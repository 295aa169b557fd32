"""The operations of who runs a store, declared by subject in the modules named here."""

from braid.admin import (
    audits,
    certificate,
    erasure,
    freeze,
    keys,
    projections,
    retention,
    settings_operations,
    status,
    tokens,
)

__all__ = [
    "audits",
    "certificate",
    "erasure",
    "freeze",
    "keys",
    "projections",
    "retention",
    "settings_operations",
    "status",
    "tokens",
]
