"""What LLaMA's parts replaced, one idea a file: so that a run can show the older part on its own values."""
