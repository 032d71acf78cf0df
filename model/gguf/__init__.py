"""GGUF, llama.cpp's one file for a model: its config, weights and tokenizer as Hugging Face's files would have them."""
