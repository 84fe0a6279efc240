"""Errors beside what they are held against: simple rules, seen combinations, noise, what was known."""
