"""The command `palace`, also as `python -m palace`; interrupted at its start it shows no trace."""

import gc
import sys

INTERRUPTED = 130
# What is imported and read at the start lives to the end: looking through it for what nobody needs
# any more, every 700 objects, is a fortieth of what a question costs.
_OBJECTS_BEFORE_A_LOOK = 20_000


def main() -> None:
    """Run the command line."""
    gc.set_threshold(_OBJECTS_BEFORE_A_LOOK)
    try:
        from palace.serve.cli import main as answer
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted\n")
        sys.exit(INTERRUPTED)
    try:
        answer()
    finally:
        # At the end of a process Python looks through all there is four times, for nothing here:
        # an eighth of what a question costs.
        gc.freeze()


if __name__ == "__main__":
    main()
