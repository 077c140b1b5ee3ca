"""`python -m rotting` is the command line."""

from rotting.cli import main

main()
