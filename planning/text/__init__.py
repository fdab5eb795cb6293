"""Split passages, locate quotes, estimate tokens, find similar spellings, read YAML."""
