"""From files of weights to the tensors of layers: names, layouts, architectures, heads."""
