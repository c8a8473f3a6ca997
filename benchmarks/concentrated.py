"""Concentrated laws on the two-sphere: cells that follow the density against a product rule.

The peer is the plain Gauss-Legendre product rule of the size such a law needs, 7.5 √κ rings
of twice as many longitudes. One evaluation of ψ, mean and covariance is what every Newton
step costs, so that is what is compared, with the features at the nodes of both made before;
the whole profile is timed beside it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import steradian as sr
from samples import unit, vmf
from steradian.families.meshes.cell_tree import CellTree
from steradian.numerics.spheres.harmonics import sphere_harmonics
from timing import Result, agree, interleaved, one_thread, quantity, show

Array = NDArray[np.float64]

LEVEL = 4
CLUSTERS, ROWS = 4, 500  # of which each holds so many
TARGETS = {1e3: 1.0, 1e4: 10.0}  # by concentration
RINGS_PER_ROOT_KAPPA = 7.5
BLOCK = 50_000  # nodes
REPEATS = 3


def run() -> list[Result]:
    """Four clusters of two concentrations."""
    return [_measure(kappa) for kappa in TARGETS]


def clusters(kappa: float, rng: np.random.Generator) -> Array:
    """Von Mises-Fisher clouds about random centres, (CLUSTERS · ROWS, 3)."""
    turns = [np.linalg.qr(rng.standard_normal((3, 3)))[0] for _ in range(CLUSTERS)]
    return unit(np.concatenate([vmf(ROWS, kappa, rng) @ turn for turn in turns]))


def _measure(kappa: float) -> Result:
    x = clusters(kappa, np.random.default_rng(11))
    found = sr.profile(x, levels=LEVEL)
    lam = found.fits[LEVEL].lam
    points, weights = product_rule(int(RINGS_PER_ROOT_KAPPA * np.sqrt(kappa)))
    phi = sphere_harmonics(points, LEVEL)[:, 1:]
    tree = CellTree(LEVEL)
    print(f"{CLUSTERS} clusters of concentration {kappa:g}, level {LEVEL}")
    print(f"  nodes: {found.numerics.nodes[-1]} in cells, {len(points)} in the product rule")
    ours, theirs = local(lam, tree), dense(lam, phi, weights)
    difference = max(float(np.abs(a - b).max()) for a, b in zip(ours, theirs, strict=True))
    good = agree("the product rule: ψ, mean and covariance", difference, 1e-9)
    mine, peer, whole = interleaved(
        [
            lambda _: local(lam, tree),
            lambda _: dense(lam, phi, weights),
            lambda _: sr.profile(x, levels=LEVEL),
        ],
        REPEATS,
    )
    label = f"ψ, mean, covariance at level {LEVEL}, {CLUSTERS} clusters of κ={kappa:g}"
    result = Result(label, mine, peer, TARGETS[kappa], agrees=good)
    print(f"  one evaluation {quantity(mine, 's')}, product rule {quantity(peer, 's')}")
    print(f"  the profile of {LEVEL} levels {quantity(whole, 's')}, ratio {result.ratio:.0f}")
    return result


def local(lam: Array, tree: CellTree) -> tuple[Array, Array, Array]:
    """On cells chosen for this law."""
    root = tree.law(lam).root()
    return root.psi, root.mean[0], root.covariance[0]


def product_rule(rings: int) -> tuple[Array, Array]:
    """Gauss-Legendre rings with twice as many longitudes: nodes (n, 3), weights (n,)."""
    z, weight = np.polynomial.legendre.leggauss(rings)
    angle = np.arange(2 * rings) * (np.pi / rings)
    radius = np.sqrt((1.0 - z) * (1.0 + z))
    flat = radius[:, None, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points = np.column_stack([flat.reshape(-1, 2), np.repeat(z, 2 * rings)])
    return points, np.repeat(weight / (4.0 * rings), 2 * rings)


def dense(lam: Array, phi: Array, weights: Array) -> tuple[Array, Array, Array]:
    """On the product rule with features ``phi`` (n, q), the covariance in blocks of nodes."""
    exponent = phi @ lam
    peak = exponent.max()
    mass = weights * np.exp(exponent - peak)
    total = mass.sum()
    mass /= total
    mean = mass @ phi
    covariance = np.zeros((len(lam), len(lam)))
    for k in range(0, len(phi), BLOCK):
        centred = phi[k : k + BLOCK] - mean
        covariance += (mass[k : k + BLOCK, None] * centred).T @ centred
    return np.array([peak + np.log(total)]), mean, covariance


if __name__ == "__main__":
    one_thread()
    show(run())
