"""Rules that could answer what is asked, each fitted to the seen combinations."""
