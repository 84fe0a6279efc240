"""Does the theorem of First Principles promise generalization? Its assumptions, computed."""
