"""Commands that show, trace, recheck and retract the sources and evidence of a report."""
