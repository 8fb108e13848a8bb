"""``python -m xsumstat``."""

import sys

from xsumstat.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
