"""One BLAS thread a process: the work is shared by processes, and times are of one core."""

import os
import sys

from evaluation.runs import THREADS

os.environ.update(THREADS)

if __name__ == "__main__":
    from evaluation.plates.command import main

    sys.exit(main())
