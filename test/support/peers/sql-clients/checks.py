"""What the programs in Python share: they print a line for each check, and end with 1 if one failed."""

import sys

failed = 0


def checks_of(client):
    """A decorator that runs a function at once, as a check of this client."""

    def check(name):
        def run(work):
            global failed
            try:
                work()
                print(f"ok {client}:", name)
            except Exception as error:
                failed += 1
                print(f"failed {client}:", name, type(error).__name__, str(error).replace("\n", " ")[:900])

        return run

    return check


def same(expected, actual):
    assert expected == actual, f"expected {expected!r}, got {actual!r}"


def end():
    sys.exit(1 if failed else 0)
