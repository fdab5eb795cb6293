"""The contestants: Holdfast's presets, a single prompt, and programs of other projects."""
