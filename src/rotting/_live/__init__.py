"""Online play: what a player keeps, and what a decision and a reward do to it."""
