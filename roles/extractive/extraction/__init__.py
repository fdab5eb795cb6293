"""The extractor by rules: rank sentences, score value candidates, detect doubts."""
