"""`python -m rotting` is the command line."""

from rotting._cli import main

main()
