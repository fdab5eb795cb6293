"""What touches the world: every function here is safe to repeat, and says how in `interfaces`."""
