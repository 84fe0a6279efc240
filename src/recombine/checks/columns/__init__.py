"""Columns besides factors and answer: days, plates, batches, and what explains more than factors do."""
