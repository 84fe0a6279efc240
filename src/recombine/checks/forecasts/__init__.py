"""How wrong answers to what is asked will be, from seen combinations that stand in for it."""
