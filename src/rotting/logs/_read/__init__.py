"""Reading tables of showings: sources, columns, order, exposure numbers, problems."""
