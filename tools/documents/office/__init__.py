"""Read office documents: unpack them within limits, then read text, slides or sheets."""
