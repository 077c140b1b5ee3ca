"""Tables of showings: reading, ordering, numbering, and what is odd in them."""
