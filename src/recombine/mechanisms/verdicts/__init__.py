"""Which verdict the numbers allow, and how it is said."""
