"""The verifier, the gap planner and the sentence checker by rules."""
