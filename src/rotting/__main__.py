"""`python -m rotting` is the command line."""

from rotting.cli.main import main

main()
