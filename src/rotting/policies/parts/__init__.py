"""What policies are built from."""
