"""Playing online: the player, and how it is saved."""
