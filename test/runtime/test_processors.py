"""How many threads there are where nobody says: environment, affinity, quotas."""
import os

import pytest

from onemlir.runtime import processors



@pytest.fixture(autouse=True)
def nothing_given(monkeypatch):
    for name in processors.VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("variables, expected", [
    ({"OMP_NUM_THREADS": "3"}, 3), ({"OMP_NUM_THREADS": "5,2"}, 5), ({"OMP_NUM_THREADS": "3", "ONEMLIR_NUM_THREADS": "7"}, 7),
    ({"OMP_NUM_THREADS": "3", "ONEMLIR_NUM_THREADS": "0"}, 3), ({"OMP_NUM_THREADS": "many"}, None), ({}, None),
])  # fmt: skip
def test_environment(monkeypatch, variables, expected):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(processors, "_read", lambda path: "")
    assert processors.default_threads() == (expected or len(os.sched_getaffinity(0)))


@pytest.mark.parametrize("files, expected", [
    ({}, 64),
    ({"/sys/fs/cgroup/cpu.max": "max 100000\n"}, 64),
    ({"/sys/fs/cgroup/cpu.max": "150000 100000\n"}, 2),
    ({"/sys/fs/cgroup/cpu.max": "10000 100000\n"}, 1),
    ({"/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/b/cpu.max": "max 100000\n", "/sys/fs/cgroup/a/cpu.max": "300000 100000\n"}, 3),
    ({"/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n", "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, 64),
    ({"/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "400000\n", "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, 4),
])  # fmt: skip
def test_quotas(monkeypatch, files, expected):
    monkeypatch.setattr(processors, "_read", lambda path: files.get(path, ""))
    monkeypatch.setattr(processors, "_allowed", lambda: 64)
    assert processors.default_threads() == expected
