"""Every guard earns its place: faults and mutants of the rules, and who catches them."""
