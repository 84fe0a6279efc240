"""Answers that change everything: one far from all others, zero, on a scale of its own, or a total of others."""
