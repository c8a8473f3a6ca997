"""Bundled data sets, each real, published and cited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType

from steradian.arguments import shown
from steradian.data.directions import Directions
from steradian.errors import InvalidArgument
from steradian.io.tables import read_directions


@dataclass(frozen=True, slots=True)
class Example:
    """One data set: its file, what it shows and where it is from."""

    name: str
    title: str
    story: str
    source: str
    axial: bool = False  # whether x and -x are the same

    def directions(self) -> Directions:
        """Read it."""
        with resources.as_file(resources.files(__name__) / f"{self.name}.csv") as path:
            return read_directions(path, axial=self.axial, degrees=True)


CATALOGUE: Mapping[str, Example] = MappingProxyType(
    {
        example.name: example
        for example in (
            Example(
                name="mcmurdo",
                title="133 palaeomagnetic sites, McMurdo region, Antarctica (sphere)",
                story=(
                    "Lavas of normal and of reversed polarity point up and down almost equally "
                    "often, so the mean nearly cancels: a summary by mean and concentration calls "
                    "the field close to uniform, while level 2 sees the axis."
                ),
                source=(
                    "Lawrence et al. (2009), Geochem. Geophys. Geosyst. 10, Q01005, "
                    "doi:10.1029/2008GC002072; from pmagpy (BSD-3-Clause)"
                ),
            ),
            Example(
                name="turtles",
                title="76 turtles' directions after treatment (circle)",
                story=(
                    "Most turtles head one way and a smaller group the opposite way: a mean "
                    "direction exists, and level 2 adds the second group it hides."
                ),
                source="Stephens (1969), Stanford Technical Report 150; Fisher (1993), set B.3",
            ),
            Example(
                name="laths",
                title="60 long axes of feldspar laths in basalt (axes of the plane)",
                story=(
                    "A lath has two ends, so its angle is known up to half a turn. Read as "
                    "directions, the angles from 0 to 180 degrees point to one side, and level 1 "
                    "finds a mean direction that nobody measured; as axes they are weakly "
                    "aligned, and level 2 adds nothing."
                ),
                source=(
                    "Smith (1988), B.Sc. thesis, University of Sydney; Fisher (1993), Statistical "
                    "Analysis of Circular Data, set B.5"
                ),
                axial=True,
            ),
        )
    }
)


def load(name: str) -> Directions:
    """A bundled data set by name.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.examples.load("turtles")
    Directions(n=76, d=2, equal weights)
    """
    if not isinstance(name, str) or name not in CATALOGUE:
        raise InvalidArgument(f"no example {shown(name)}; there are {', '.join(CATALOGUE)}")
    return CATALOGUE[name].directions()
