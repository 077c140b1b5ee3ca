"""Online play: a player's ledger, and the effect of decisions and rewards on it."""
