"""`python -m checker` is `schedproof`."""

from checker.cli.main import main

main()
