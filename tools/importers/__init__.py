"""Importers: conversations, mail, notes and tables of others, read as `Message` values. They store nothing."""
