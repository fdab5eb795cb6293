"""Decide what a report needs: delivery checks, sentence support, groups of results."""
