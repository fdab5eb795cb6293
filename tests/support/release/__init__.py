"""What a release publishes besides the code: the licence page and the frozen interfaces."""
