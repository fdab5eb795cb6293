"""Search the web and read its pages, with guarded addresses and polite request rates."""
