"""What each algorithm takes in the section `algorithm`, one file beside the mathematics of each; imports no torch.

A key of the same name means the same in all of them: it is kept when an override chooses another algorithm.
"""
