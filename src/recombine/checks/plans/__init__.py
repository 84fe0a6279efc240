"""What to collect: rows for a budget or a precision, their costs and their order."""
