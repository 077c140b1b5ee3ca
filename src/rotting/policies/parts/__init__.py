"""What policies are built from.

A part is a NamedTuple of arrays with the functions that work on it. It knows what its fields may
hold and how they grow (`rotting.kernel.state`); policies say what to do with it.
"""
