"""Jobs as data: the request, the state, the orders to activities, and recoveries."""
