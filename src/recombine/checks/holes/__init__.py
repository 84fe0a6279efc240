"""What is missing in a pattern: what is asked about and lies where nothing seen reaches."""
