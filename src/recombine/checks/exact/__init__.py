"""What the rows determine, exactly: integers and row spaces, without a threshold or a tolerance."""
