"""Support for tests of the wheel: fresh environments and wheels of other projects."""
