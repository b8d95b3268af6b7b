"""The compiled search: the same exploration as explore.py, from C. Rules become functions, who uses which is data."""
