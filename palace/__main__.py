"""The command `palace`, also as `python -m palace`; interrupted at its start it shows no trace."""

import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line."""
    try:
        from palace.serve.cli import main as answer
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted\n")
        sys.exit(INTERRUPTED)
    answer()


if __name__ == "__main__":
    main()
