"""Do effects add up on what was seen? Tests of the assumption that everything else rests on."""
