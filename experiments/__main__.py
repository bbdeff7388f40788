"""One BLAS thread a process: the work is shared by processes, and times are of one core."""

import os
import sys

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

if __name__ == "__main__":
    from experiments.command import main

    sys.exit(main())
