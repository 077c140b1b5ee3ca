"""What policies and engines are written with: arrays, random numbers, states, verbs, dispatch."""
