"""Random kills of a real installation: `make chaos N=100 SEED=1` shows that nothing is lost."""
