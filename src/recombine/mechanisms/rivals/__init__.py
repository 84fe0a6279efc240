"""What else errors may be, or a mean of them may hide: looked at before a mechanism is believed."""
