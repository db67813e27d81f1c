"""Models in memory: the modules of PyTorch, transformers, TransformerLens and PEFT."""
