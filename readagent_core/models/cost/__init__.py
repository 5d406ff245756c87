"""What calls cost: tokens, prices, usage of one run, the month's spending and its limit."""
