"""Reports: results as text, Markdown, JSON and JUnit. `output.py` is the only place that prints."""
