"""Online play: players, and their saved states."""
