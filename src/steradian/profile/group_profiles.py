"""The profiles of the groups of a comparison, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from steradian.hierarchies import Hierarchy
from steradian.profile.entry import profile
from steradian.profile.grouping import Groups
from steradian.profile.profile import Profile


@dataclass(frozen=True, eq=False)
class GroupProfiles(Mapping[str, Profile]):
    """Profiles of groups by name, each made when it is asked for."""

    source: Groups
    hierarchy: Hierarchy
    made: dict[str, Profile]

    def __getitem__(self, name: str) -> Profile:
        if name not in self.source.names:
            raise KeyError(name)
        if name not in self.made:
            group = self.source.names.index(name)
            rows = self.source.rows
            if rows is None:
                data: Any = self.source.sums[group]
                design: Any = self.source.design
                self.made[name] = profile(data, levels=self.hierarchy.levels, design=design)
            else:
                design = self.source.design.of_rows(rows.labels == group)
                data = self.source.directions(group)
                self.made[name] = profile(data, hierarchy=self.hierarchy, design=design)
        return self.made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.source.names)

    def __len__(self) -> int:
        return len(self.source.names)
