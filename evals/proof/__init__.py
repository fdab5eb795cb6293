"""Measure the rules of the loop's proof: planted faults are refused, true sentences pass."""
