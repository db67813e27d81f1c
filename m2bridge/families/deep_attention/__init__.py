"""Deep attention networks: lightning or softmax self-attention with any number of layers."""
