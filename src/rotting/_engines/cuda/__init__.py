"""The loop on an NVIDIA GPU."""
