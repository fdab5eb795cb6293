"""KoPL: a knowledge base with 27 look-up tools, and gold programs over it.

Source: Cao et al., KQA Pro (ACL 2022); the semantics are those of THU-KEG/KoPL, written anew.
"""
