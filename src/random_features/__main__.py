"""The command line of the library: ``random-features maps`` and ``random-features compare FILE --target COLUMN``."""

import errno
import sys

import click

from random_features.compare.command import compare
from random_features.errors import UserError
from random_features.maps.registry import described, list_maps

#: Errors of the disk, and of paths that no file can have, not of the code.
OF_THE_DISK = (
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.ENOTDIR,
    errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP,
)  # fmt: skip


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
def commands():
    """Random feature maps, kernels and learners for your own data."""


@commands.command()
@click.argument("name", required=False)
def maps(name):
    """List the random feature maps, or say what is known of the one of this NAME."""
    print(described(name) if name else list_maps())


commands.add_command(compare)


def run(group) -> None:
    """Run a command of a group. An error that a user can fix is one line without a traceback."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # a console need not have all characters
    try:
        group.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.exceptions.Abort as abort:
        if isinstance(abort.__cause__, EOFError):
            raise abort.__cause__ from None  # a file that ends too early is not an interruption
        sys.exit(130)
    except (UserError, OSError) as error:
        if isinstance(error, OSError) and error.errno not in OF_THE_DISK:
            raise
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)


def main() -> None:
    """Run the command ``random-features``."""
    run(commands)


if __name__ == "__main__":
    main()
