"""Take documents over HTTP, and read them into their collection in the background."""
