"""Do what a worker does besides activities: take work over, find lost jobs, note outages."""
