"""What plays: the loop, and the engines that run it."""
