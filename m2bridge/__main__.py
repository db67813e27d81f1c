"""``python -m m2bridge``: the command line."""

from m2bridge.cli.main import main

if __name__ == "__main__":
    main()
