"""Every test starts from the same random state, so that a failure comes back when the test is run again."""
import os
import random
import sys

import numpy as np
import pytest

import onemlir as om

# Another number runs the suite on other weights and inputs: a test that then fails has too tight a tolerance, or found an error.
SEED = int(os.environ.get("ONEMLIR_TEST_SEED", "0"))


def seed() -> None:
    random.seed(SEED)
    np.random.seed(SEED)
    om.manual_seed(SEED)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(SEED)


seed()  # for the models that test files make when they are collected


@pytest.fixture(autouse=True)
def seeded():
    seed()
