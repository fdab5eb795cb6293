"""An HTTP client for untrusted hosts: address rules, rate limits and robots.txt."""
