"""The foundation of policies and engines, which imports nothing else of the package.

- `rotting.kernel.arrays`: the two array types of all signatures.
- `rotting.kernel.compilable`: decorators for functions that compiled policies may call.
- `rotting.kernel.random`: counter-based random numbers.
- `rotting.kernel.state`: what the fields of a state may hold, and operations on whole states.
- `rotting.kernel.verbs`: the functions that make up a policy, and calls to those of any policy.
"""
