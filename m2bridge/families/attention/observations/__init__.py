"""What is computed of a case of one layer, which the statements predict."""
