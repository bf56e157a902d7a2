"""``python -m rfstudy``: see ``rfstudy.cli``."""

from rfstudy.cli import main

if __name__ == "__main__":
    main()
