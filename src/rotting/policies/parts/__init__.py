"""What policies are built from: parts of a state, each with its functions, and shared helpers.

A part is a NamedTuple of arrays for your `State`. Its field types say what the arrays may hold, and
it handles its own growth (`rotting.kernel.state`); the policy decides what to do with it.

- `arms`: pulls, rewards and rounds, which every policy counts, and the ramp-up.
- `openings`: which arms may be chosen; `exposures`: counts by key, in an audience.
- `argmax`: scans for the highest index; `ranking`: the arms ranked by a value, found without a
  scan.
- `window`, `rounds`, `growing_windows`, `milestones`, `history` with `best_window`: recent rewards.
- `sums`, `halves`, `likelihood`, `nearest`, `family`: models of a known family.
- `padding`, `noise_estimate`, `sampling`: confidence bounds, an unknown sigma, posterior draws.
- `cells`, `curves`, `shapes`, `commons`: fatigue curves.
- `per_key_state`: a policy state for each key; `inspection`: results of the verb `inspect`.
"""
