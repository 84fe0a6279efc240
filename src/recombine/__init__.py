"""recombine: what will a learner do on combinations it has not seen, and why?"""
