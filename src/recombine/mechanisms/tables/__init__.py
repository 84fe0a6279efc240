"""Tables of predictions: read, repaired where that is safe, and what is worth saying of them."""
