"""Traces: made from a search, kept as files, and run again."""
