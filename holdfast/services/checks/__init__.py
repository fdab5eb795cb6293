"""Check an installation for `holdfast doctor`."""
