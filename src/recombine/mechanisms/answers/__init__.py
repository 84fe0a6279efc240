"""What a learner answered, combination by combination, and the columns it was read from."""
