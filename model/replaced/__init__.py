"""What LLaMA's parts replaced, one idea a file: each a real implementation, for the values of a run."""
