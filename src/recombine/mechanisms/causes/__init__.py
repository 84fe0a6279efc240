"""Rules that wrong answers may follow: the mechanisms that a verdict names."""
