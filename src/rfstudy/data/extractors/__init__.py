"""Features of images, one extractor per file.

``extract(X, given, **parameters)`` makes them; ``given`` is an ``images.Given``. ``columns(d, **parameters)`` returns
the number of features. Three literals state the needs of its job: ``GPU`` whether a GPU makes it faster, ``MINUTES``
how long it may take, ``FILES`` whether it reads files of a source.
"""
