"""Score a large dataset with Ray: the compiled session is put into the object store once; throughput against one process.

Needs `pip install ray`. Run: python with_ray.py [ROWS]
"""
import ray
from dataset import compare, make_session, score


@ray.remote(num_cpus=1)
class Scorer:
    """A worker that holds the session."""

    def __init__(self, session):
        self.session = session

    def score(self, seed, rows):
        return score(self.session, seed, rows)


def main() -> None:
    session = make_session()
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    sent = ray.put(session)
    scorers = [Scorer.remote(sent) for _ in range(2)]
    ray.get([scorer.score.remote(0, 1) for scorer in scorers])  # workers are up
    compare("Ray", session, lambda parts: sum(ray.get([scorers[i % 2].score.remote(*part) for i, part in enumerate(parts)])))
    ray.shutdown()


if __name__ == "__main__":
    main()
