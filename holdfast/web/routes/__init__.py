"""Define the routes of the page by subject; each calls one use case and renders one template."""
