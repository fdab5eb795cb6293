"""Read pages of HTML and of MediaWiki into text with headings and tables."""
