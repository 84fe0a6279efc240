"""What a check found, as a value, as a sentence and for export."""
