"""Types of arrays, and the tolerance for equal differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
# Signs of the units that trade places, 8 to the byte, lowest bit first.
Bits = npt.NDArray[np.uint8]

# Two metrics, by their places.
Pair = tuple[int, int]
# A user's coefficient of two 1-D arrays.
CorrelationFunction = Callable[[FloatArray, FloatArray], float]

# Two differences this close are one: rounding must not decide whether a resample is as extreme as the data.
TOLERANCE = 1e-12
