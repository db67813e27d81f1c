"""Files of weights as libraries write them, with what is right of each."""
