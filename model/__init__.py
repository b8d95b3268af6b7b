"""The rules of the request lifecycle, the language they are declared in, and the readings of both."""
