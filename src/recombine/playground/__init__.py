"""The playground: one offline page on which a person paints what training saw, and sees what is answered elsewhere."""

from recombine.playground.page import given_table as given_table, page as page, write_page as write_page
