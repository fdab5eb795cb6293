"""KoPL: a knowledge base with 27 look-up tools, and gold programs over the knowledge base.

Source: Cao et al., KQA Pro (ACL 2022); semantics of THU-KEG/KoPL, code of our own.
"""
