"""Errors that mean something to whoever runs the study: what a user can mend, and what a method cannot do."""


class UserError(ValueError):
    """Something outside the code is wrong (bad configuration, missing files); the message says what and what to do.

    The command line prints it as one line.
    """


class NotDefinedError(ValueError):
    """A feature map does not exist for this size or number of columns; a study skips such a cell and goes on."""
