"""Charts: rows of data checked, written as a specification of ours, drawn as SVG and PNG."""
