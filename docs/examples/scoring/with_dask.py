"""Score a large dataset with Dask: the compiled session is sent to each worker once; throughput against one process.

Needs `pip install distributed`. Run: python with_dask.py [ROWS]
"""
from dataset import compare, make_session, score
from distributed import Client, LocalCluster


def main() -> None:
    session = make_session()
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        client.upload_file(__file__.replace("with_dask", "dataset"))  # a remote worker has no such module
        sent = client.scatter(session, broadcast=True)
        client.gather([client.submit(score, sent, seed, 1) for seed in range(4)])  # workers are up
        compare("Dask", session, lambda parts: sum(client.gather([client.submit(score, sent, *part) for part in parts])))


if __name__ == "__main__":
    main()
