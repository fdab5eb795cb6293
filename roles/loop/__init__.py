"""The roles of the cited loop: the agent that searches and answers, and the answer judge."""
