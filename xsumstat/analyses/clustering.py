"""Systems, or inputs, that belong together: the keyword `cluster`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import groups
from xsumstat.coefficients.clusters import Clusters
from xsumstat.coefficients.record import Measure
from xsumstat.core import arguments, validate
from xsumstat.core.synonyms import identified
from xsumstat.core.types import IntArray
from xsumstat.dataset import chunking, facts

# Coordinates of what inputs are parts of; the first is what readers of WMT's files call it.
_DOCUMENTS = ("document", "doc", "doc_id", "docid", "document_id", "source_document", "source_doc", "article")
_LIKE_DOCUMENTS = ("patient", "subject", "participant", "conversation", "dialogue", "dialog", "thread", "template")
# What identifiers may number that are kinds of inputs, whose inputs need not be alike.
_KINDS = ("dataset", "task", "topic", "domain", "language", "split", "category", "type", "input")


def checked(cluster: Any, measure: Measure | None = None, given: Any = None, refused: str = "") -> tuple[str, ...]:
    """The names of coordinates that `cluster` gives, none by default; `refused` names what excludes clusters."""
    if cluster is None:
        return ()
    own_cells = measure is not None and measure.own_cells
    excluding = {refused: bool(refused), "given": given is not None, "missing='available'": own_cells}
    for name in (name for name, excludes in excluding.items() if excludes):
        raise ValueError(f"cluster={cluster!r} does not go with {name}; leave one of them out")
    return (
        (cluster,) if isinstance(cluster, str) else tuple(validate.several("cluster", cluster, "a coordinate or two"))
    )


def of_scores(
    score: xr.DataArray, names: tuple[str, ...], dims: tuple[str, ...], *, drawn: bool = False
) -> Clusters | None:
    """The cluster of each system and of each input; None without names. Labels without a name are alone.

    A random dim needs two clusters if it is `drawn`, or is one of several random dims.
    """
    if not names:
        warn_of_documents(score, dims)
        return None
    if chunking.is_lazy(score):
        raise ValueError(f"cluster={validate.listing(names)} needs scores in memory: ds.load()")
    found = {dim: np.arange(score.sizes[dim]) for dim in facts.CELLS}
    for dim, name in by_dim(score, names).items():
        found[dim] = of_labels(score, name, facts.CELLS)[1]
        if dim in dims:
            several = len(set(found[dim].tolist())) > 1 or score.sizes[dim] < 2
            if not several and (drawn or len(dims) > 1):
                raise ValueError(
                    f"cluster={name!r} puts all {score.sizes[dim]:,} {dim}s into one cluster, which tells nothing of "
                    f"new {dim}s: two are needed, or resample= without {dim!r}"
                )
            _warn_unequal(found[dim], dim)
    return found["system"], found["input"]


def by_dim(score: xr.DataArray, names: tuple[str, ...]) -> dict[str, str]:
    """The names of coordinates by the dim that they describe, one of each at most."""
    found: dict[str, str] = {}
    for name in names:
        dim = str(groups.described_by(score, "cluster", name, facts.CELLS).dims[0])
        if dim in found:
            raise ValueError(f"cluster names two coordinates of {dim}s, {found[dim]!r} and {name!r}; name one")
        found[dim] = name
    return found


def carried(to: xr.DataArray, names: tuple[str, ...], source: xr.Dataset | xr.DataArray) -> xr.DataArray:
    """Ratings with the coordinates of these names, taken from the scores where they lack them."""
    for name in names:
        if isinstance(name, str) and name in to.coords:
            continue
        coord = groups.described_by(source, "cluster", name, facts.CELLS)
        dim = str(coord.dims[0])
        if dim in to.indexes and dim in coord.indexes:
            validate.unique(f"labels of {dim!r}", coord.indexes[dim])
            coord = coord.reindex({dim: to.indexes[dim]})
        elif to.sizes[dim] != coord.size:
            raise ValueError(f"cluster={name!r}: the scores have {coord.size} {dim}s, and the ratings {to.sizes[dim]}")
        to = to.assign_coords({name: (dim, coord.values)})
    return to


def of_inputs(score: xr.DataArray | xr.Dataset, name: str) -> IntArray:
    """The cluster of each input."""
    return of_labels(score, name, ("input",))[1]


def of_items(score: xr.DataArray, cluster: Any) -> IntArray | None:
    """The cluster of each input, for tests of outputs: "input" keeps those of one input together."""
    if cluster is None:
        warn_of_documents(score, ("input",))
        return None
    if cluster == "input":
        return np.arange(score.sizes["input"])
    codes = of_inputs(score, cluster)
    _warn_unequal(codes, "input")
    return codes


def inputs_of(score: xr.DataArray, cluster: Any) -> str | None:
    """The one of the names in `cluster` that describes inputs."""
    return by_dim(score, checked(cluster)).get("input")


def are_unequal(sizes: IntArray) -> bool:
    """Whether few clusters of these sizes hold most labels."""
    return float(sizes.sum()) ** 2 / float((sizes**2).sum()) < len(sizes) / 2


def warn_of_documents(score: xr.DataArray | xr.Dataset, dims: tuple[str, ...], way: str = "") -> None:
    """Warn of random inputs from common documents, patients or the like, which makes them alike.

    `way` says what to do, with their `name`, their `unit` and how many `members` one has on average.
    """
    found = next(((str(name), unit) for name in score.coords if (unit := _unit(score, name)) is not None), None)
    if "input" not in dims or found is None:
        return
    name, unit = found
    n = int(of_inputs(score, name).max()) + 1
    if 1 < n < score.sizes["input"]:
        told = {"name": name, "unit": unit, "members": f"{score.sizes['input'] / n:.3g}"}
        whose = "" if validate.takes("cluster") or not arguments.in_python() else " of ci and other functions"
        usual = f"{arguments.given('cluster', name)}{whose} keeps {unit}s together"
        validate.warn_once(
            f"{score.sizes['input']:,} inputs come from {validate.counted(n, unit)}. Inputs of one {unit} are often "
            f"alike; then intervals are too narrow, and tests are liberal; {way.format(**told) or usual}",
            "documents",
        )


def _unit(score: xr.DataArray | xr.Dataset, name: Hashable) -> str | None:
    """What several inputs are parts of by a coordinate, such as a document; None for other coordinates."""
    if not isinstance(name, str) or score[name].dims != ("input",) or name == "input" or chunking.is_lazy(score[name]):
        return None
    if name in _DOCUMENTS:
        return "document"
    bare = identified(name) or (name if name in _LIKE_DOCUMENTS else "")
    return bare if bare and not set(bare.split()) & set(_KINDS) else None


def of_labels(score: xr.DataArray | xr.Dataset, name: str, dims: tuple[str, ...]) -> tuple[str, IntArray]:
    """The dim that a coordinate describes, and the cluster of each of its labels."""
    dim, labels, _ = groups.groups_of(score, "cluster", name, dims)
    own = [(f"{at}", "") if label is None else ("", label) for at, label in enumerate(labels)]
    return dim, np.unique(np.array(own, dtype=str), axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _warn_unequal(codes: IntArray, dim: str) -> None:
    """Warn where few clusters hold most labels, because intervals undercover there."""
    sizes = np.bincount(codes)
    if are_unequal(sizes):
        validate.warn(
            f"clusters of {dim}s have unequal sizes ({sizes.min()} to {sizes.max()}): 95 % intervals cover about 90 %, "
            "and tests are liberal",
            "unequal_clusters",
        )
