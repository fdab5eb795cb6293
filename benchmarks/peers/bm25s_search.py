"""Index the benchmark's passages with bm25s and answer questions as JSON lines."""

import json
import sys
import time
from pathlib import Path

import bm25s

from benchmarks.setup.corpus_data import load_collection


def main() -> None:
    data = load_collection(int(sys.argv[1]), Path(sys.argv[2]))
    start = time.perf_counter()
    texts = [f"{each.title} {each.text}" for each in data.paragraphs]
    index = bm25s.BM25()
    index.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)
    _print_line({"indexed_s": time.perf_counter() - start})
    for line in sys.stdin:
        question, top = json.loads(line)
        start = time.perf_counter()
        words = bm25s.tokenize([question], stopwords="en", show_progress=False)
        places, _ = index.retrieve(words, k=top, show_progress=False)
        took_ms = (time.perf_counter() - start) * 1000
        _print_line({"places": [int(place) for place in places[0]], "took_ms": took_ms})


def _print_line(said: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
