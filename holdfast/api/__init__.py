"""The jobs over HTTP, to be looked at: nothing here changes anything."""
