"""How results about deep attention networks are shown."""
