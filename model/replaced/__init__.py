"""What LLaMA's parts took the place of, one a file, to be tried on the values of a run.

No network here has these parts. Each is tested against torch.nn or transformers.
"""
