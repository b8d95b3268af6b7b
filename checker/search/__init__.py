"""Searches over the states of a world, one file each. None of them prints."""
