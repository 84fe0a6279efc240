"""Single answers that change everything: far from all others, zero, or on a scale of their own."""
