"""Tests of the searches and of traces."""
