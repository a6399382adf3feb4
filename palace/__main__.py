"""The command `palace`, also as `python -m palace`; who interrupts it while it loads sees no trace."""

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
