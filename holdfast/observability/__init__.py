"""Show what happens to people who run Holdfast: traces by OTLP, and metrics for Prometheus."""
