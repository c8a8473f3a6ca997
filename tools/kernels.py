"""Run tests under other linear-algebra kernels than this machine's: ``make test-kernels``.

OpenBLAS has one kernel per family of processors, each rounding in its own order, and
``OPENBLAS_CORETYPE`` chooses it. A bound that holds under one by luck fails under another.
NumPy and SciPy bring a copy of OpenBLAS each; both must obey.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

MANY = 2  # other kernels to try
# From new to old; what each asks of the processor, as Linux names it.
KERNELS = {"SkylakeX": "avx512vl", "Haswell": "avx2", "Prescott": "pni", "Nehalem": "sse4_2"}
TESTS = [  # everything whose bounds are about rounding
    "tests/test_accuracy.py",
    "tests/test_high_dimension.py",
    "tests/test_properties.py",
    "tests/data/test_moments.py",
    "tests/existence/test_boundary.py",
    "tests/existence/test_certificates.py",
    "tests/families/test_concentrated.py",
    "tests/families/test_fisher_bingham_fit.py",
    "tests/families/test_tight_clusters.py",
    "tests/fitting/test_fisher_bingham.py",
    "tests/fitting/test_fit.py",
    "tests/fitting/test_shrinkage.py",
    "tests/golden/test_record.py",
    "tests/hierarchies/test_quadratics.py",
    "tests/hierarchies/test_zonal.py",
    "tests/numerics/test_bessel.py",
    "tests/numerics/test_chi_square_mixture.py",
    "tests/numerics/test_contour.py",
    "tests/numerics/test_harmonics.py",
    "tests/numerics/test_sphere_minima.py",
    "tests/spaces/test_spaces.py",
]
LOOK = """
import json, numpy, scipy.linalg
from threadpoolctl import threadpool_info
found = [i for i in threadpool_info() if i["internal_api"] == "openblas"]
print(json.dumps([i["architecture"] for i in found]))
"""


def in_use(kernel: str | None = None) -> list[str]:
    """Kernel of every OpenBLAS that NumPy and SciPy load."""
    done = subprocess.run(
        [sys.executable, "-c", LOOK], env=_with(kernel), capture_output=True, text=True, check=True
    )
    return list(json.loads(done.stdout))


def others() -> list[str]:
    """Kernels this processor can run, apart from the one it would take by itself."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return []
    info = Path("/proc/cpuinfo")
    flags = set(info.read_text(encoding="utf-8").split()) if info.exists() else set()
    own = set(in_use())
    return [name for name, flag in KERNELS.items() if flag in flags and name not in own]


def _with(kernel: str | None) -> dict[str, str]:
    env = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"}
    return env | ({"OPENBLAS_CORETYPE": kernel} if kernel else {})


def main() -> None:
    own, chosen = in_use(), others()[:MANY]
    print(f"this machine: {' and '.join(own) or 'no OpenBLAS'}; others: {chosen or 'none'}")
    failed = []
    for kernel in chosen:
        there = in_use(kernel)
        if len(there) != len(own) or set(there) & set(own):
            sys.exit(f"OPENBLAS_CORETYPE={kernel} gives {there}: it does not take effect")
        print(f"OPENBLAS_CORETYPE={kernel}", flush=True)
        command = [sys.executable, *(sys.argv[1:] or ["-m", "pytest", "-q"]), "-m", "not slow"]
        if subprocess.run([*command, *TESTS], env=_with(kernel), check=False).returncode:
            failed.append(kernel)
    if failed:
        sys.exit(f"failed under {', '.join(failed)}")


if __name__ == "__main__":
    main()
