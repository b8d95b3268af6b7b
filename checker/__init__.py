"""The checker: searches, traces, verdicts, reports and the command line."""
