"""Commands of `holdfast`: one module per subject, imported only when a command runs."""
