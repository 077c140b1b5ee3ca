"""The loop and the verbs, compiled."""
