"""What tests share: the scripted model, the only stand-in, which speaks the real protocol."""
