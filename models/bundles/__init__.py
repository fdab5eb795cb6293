"""Define what a bundle of one job says about itself."""
