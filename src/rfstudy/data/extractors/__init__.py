"""Features of images, one extractor a file.

``extract(X, given, **parameters)`` makes them; ``given`` is an ``images.Given``. ``columns(d, **parameters)`` says how
many features there are. Three literals say what its job needs: ``GPU`` whether a GPU makes it faster, ``MINUTES`` how
long it may take, ``FILES`` whether it reads files of a source.
"""
