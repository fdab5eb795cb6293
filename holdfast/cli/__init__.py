"""The command line: a thin layer over `holdfast.client`."""
