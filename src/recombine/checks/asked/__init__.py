"""Which combinations are asked about, and how they are named."""
