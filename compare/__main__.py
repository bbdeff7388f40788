"""One BLAS thread a process: the work is shared by processes, and times are of one core."""

import os
import sys

from experiments.__main__ import THREADS

os.environ.update(THREADS)

if __name__ == "__main__":
    from compare.command import main

    sys.exit(main())
