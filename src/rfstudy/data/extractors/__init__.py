"""Features of images, one extractor a file.

``extract(X, **parameters, device)`` makes them, ``columns(d, **parameters)`` says how many there are, and the literal
``GPU`` whether a GPU makes them faster.
"""
