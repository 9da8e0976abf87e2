"""The same random numbers on both sides, and a ledger of what draws."""
