"""What several methods use: the run, the prompts of the last step, retrieval, budgets of words."""
