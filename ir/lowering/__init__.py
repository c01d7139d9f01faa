"""Passes that only back ends call: they prepare a function for lanes, threads and tiles."""
