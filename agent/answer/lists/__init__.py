"""Answers that list: what was said or changed of a topic, by day, each piece cited."""
