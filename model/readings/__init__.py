"""Readings: ways to use what is declared. They know the language and nothing of serving."""
