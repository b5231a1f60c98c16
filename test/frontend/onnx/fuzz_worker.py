"""Reads mutants by their numbers from standard input; a line of JSON for each. With ``--compile`` those that can be read are compiled too."""
import json
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))


def outcome(data: bytes, compiled: bool) -> tuple[str, str]:
    """"read", "refused" or "broken", and the message."""
    import onemlir
    from onemlir.frontend.onnx import read_onnx
    from onemlir.traced import TracedModel

    try:
        program = read_onnx(data)
        if compiled:
            TracedModel(program).session()
        return "read", ""
    except onemlir.OnemlirError as error:
        return "refused", f"{type(error).__name__}: {error}"
    except Exception as error:
        import traceback

        return "broken", f"{type(error).__name__}: {error}\n{traceback.format_exc()[-700:]}"


def main() -> None:
    results = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    from mutants import models, mutant

    sources = models()
    print(json.dumps({"cases": len(sources)}), file=results, flush=True)
    for line in sys.stdin:
        seed, start = int(line), time.perf_counter()
        status, message = outcome(mutant(sources, seed), "--compile" in sys.argv)
        print(json.dumps({"name": str(seed), "status": status, "message": message, "seconds": round(time.perf_counter() - start, 3)}), file=results, flush=True)


if __name__ == "__main__":
    main()
