"""The CUDA engine: the loops on an NVIDIA GPU."""
