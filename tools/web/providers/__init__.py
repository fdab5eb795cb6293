"""Search providers, one file each; `known` lists them, `base` says what one must do."""
