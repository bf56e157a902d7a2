"""One module per kind of plot; each turns tidy rows and a specification into a matplotlib figure."""
