"""Jobs as `--json` shows them to people and programs; field names are part of the interface."""
