"""What LLaMA's parts replaced, and what is told beside them: real implementations, one idea a file."""
