"""Check rows of data, write a chart specification, and draw charts as SVG and PNG."""
