"""Features of images, one extractor a file.

``extract(X, **parameters, ...)`` makes them; what else it asks for by name it is given (``modules.GIVEN``): the device,
the labels of the training rows, the files of its source, a place for a checkpoint. ``columns(d, **parameters)`` says
how many features there are, the literal ``GPU`` whether a GPU makes them faster, ``MINUTES`` what its job asks for.
"""
