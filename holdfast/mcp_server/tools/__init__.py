"""Define the tools by subject; each calls one use case of the installation."""
