"""One BLAS thread a process: the work is shared by processes, and times are of one core."""

import os
import sys

THREADS = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
os.environ.update(THREADS)

if __name__ == "__main__":
    from evaluation.papers.command import main

    sys.exit(main())
