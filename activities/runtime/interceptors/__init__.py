"""What happens around every activity: its errors, its worked time, stalls and recoveries."""
