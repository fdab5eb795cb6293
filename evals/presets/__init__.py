"""Compare presets over the same questions (`holdfast eval`): run, judge, print."""
