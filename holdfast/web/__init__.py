"""Serve the web page: ask, watch, steer and read jobs in a browser.

The page is HTML from templates over the same use cases as the HTTP API, one style sheet and a few
ES modules. Everything but liveness works without JavaScript: each control is a link or a form.
"""
