"""Importers: conversations in the formats of others, read as `Message` values. They store nothing."""
