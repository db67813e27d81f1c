"""Values in the field's own words: rings, ideals, polynomial maps, the attention model and its orbits."""
