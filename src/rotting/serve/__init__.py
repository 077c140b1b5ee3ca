"""A decision service over HTTP, and its client."""
