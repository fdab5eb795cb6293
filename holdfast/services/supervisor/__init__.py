"""Keep one worker running: start it, watch it and its servers, and start the next one."""
