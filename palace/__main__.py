"""`python -m palace` is the command `palace`."""

from palace.serve.cli import main

if __name__ == "__main__":
    main()
