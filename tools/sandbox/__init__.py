"""Run programs that meet foreign bytes inside bubblewrap, where it is there.

Parsers of pages and documents, DuckDB, `python.run_data` and the MCP commands whose table says
`sandbox` share this folder:

- `sandbox_support` tries once whether bubblewrap works on this machine;
- `bubblewrap_command` builds the command: own namespaces, named files alone, an empty /tmp;
- `syscall_filter` refuses system calls: of a program of ours also every second process, so that
  the limit of its one process bounds the memory of all, and of every program some with which
  kernels were often attacked;
- `own_python` names the files that Python and our modules need;
- `child_process` runs a program that answers once, `process_pool` and `answering_loop` one that
  answers again and again, and `process_slots` bounds how many answer at once;
- `process_tree_watch` ends an MCP command whose processes take too much together.

Without bubblewrap the same programs run with their limits of time and memory alone; what a user
has asked to be confined, `data_libraries` and `sandbox = true`, then does not run at all.
"""
