"""Figures printed in the ReadAgent paper (Lee et al., ICML 2024), to stand beside ours; never ours.

All on PaLM 2-L, except table 7 (GPT-3.5 Turbo). Shares in percent; ROUGE of tables 2 in 0–1 there, here ×100.
A figure is matched to an arm by method and number of look-ups; where the paper has none, none is shown.
"""

from __future__ import annotations

from dataclasses import dataclass

SOURCE = "Lee et al., ICML 2024"


@dataclass(frozen=True)
class Published:
    """``score``: accuracy, or LLM-Rating-1 for free-form answers. ``sd``: over the paper's 3 runs."""

    method: str
    look_ups: int
    compression_rate: float
    pages: float
    score: float
    sd: float | None = None
    rating_2: float | None = None
    rouge: tuple[float, float, float] | None = None


@dataclass(frozen=True)
class Table:
    """``about``: which data, how many documents and questions. ``model``: what the paper ran it on."""

    name: str
    about: str
    model: str
    rows: tuple[Published, ...]


def _quality(*rows: tuple[str, int, float, float, float, float | None]) -> tuple[Published, ...]:
    return tuple(Published(*row) for row in rows)


QUALITY = Table(
    "Table 1",
    "QuALITY dev, 230 documents, 2,086 questions",
    "PaLM 2-L",
    _quality(
        ("bm25", 1, 89.27, 1, 70.34, 0.06),
        ("bm25", 2, 78.96, 2, 79.05, 0.05),
        ("bm25", 3, 68.50, 3, 82.65, 0.05),
        ("bm25", 4, 58.57, 4, 84.42, 0.13),
        ("neural", 1, 89.91, 1, 71.32, 0.19),
        ("neural", 2, 80.08, 2, 79.02, 0.10),
        ("neural", 3, 70.28, 3, 83.41, 0.10),
        ("neural", 4, 60.68, 4, 84.88, 0.03),
        ("full-text", 0, 0.0, 0, 85.83, 0.19),
        ("gist-mem", 0, 85.53, 0, 77.52, 0.13),
        ("read-agent-p", 1, 76.00, 1.0, 84.13, 0.10),
        ("read-agent-p", 2, 72.17, 1.6, 86.16, 0.12),
        ("read-agent-p", 3, 69.36, 2.0, 86.59, 0.10),
        ("read-agent-p", 4, 67.73, 2.2, 86.86, 0.00),
        ("read-agent-p", 5, 66.45, 2.3, 86.83, 0.10),
        ("read-agent-p", 6, 64.75, 2.5, 86.91, 0.08),
        ("read-agent-s", 6, 58.53, 3.2, 87.17, 0.18),
    ),
)
QUALITY_GPT = Table(
    "Table 7",
    "QuALITY dev, 230 documents, 2,086 questions",
    "GPT-3.5 Turbo",
    _quality(
        ("neural", 3, 73.13, 3, 69.22, None),
        ("full-text", 0, 0.0, 0, 73.30, None),
        ("gist-mem", 0, 84.24, 0, 66.06, None),
        ("read-agent-p", 5, 76.60, 1.0, 69.65, None),
        ("read-agent-s", 6, 60.43, 3.4, 72.10, None),
    ),
)


def _narrative(*rows: tuple[str, int, float, float, float, float, float, float, float]) -> tuple[Published, ...]:
    return tuple(
        Published(method, k, cr, pages, lr1, None, lr2, (100 * r1, 100 * r2, 100 * rl))
        for method, k, cr, pages, lr1, lr2, r1, r2, rl in rows
    )


GUTENBERG = Table(
    "Table 2",
    "NarrativeQA Gutenberg validation, 58 documents, 1,743 questions",
    "PaLM 2-L",
    _narrative(
        ("bm25", 1, 97.63, 1, 39.01, 50.14, 0.166, 0.061, 0.156),
        ("bm25", 2, 95.24, 2, 49.34, 60.76, 0.203, 0.079, 0.191),
        ("bm25", 3, 93.34, 3, 52.73, 63.68, 0.208, 0.080, 0.195),
        ("bm25", 4, 92.47, 4, 53.59, 64.26, 0.211, 0.082, 0.197),
        ("neural", 1, 98.19, 1, 34.25, 46.53, 0.146, 0.051, 0.134),
        ("neural", 2, 96.30, 2, 44.69, 54.96, 0.180, 0.069, 0.167),
        ("neural", 3, 94.62, 3, 46.24, 57.31, 0.191, 0.077, 0.178),
        ("neural", 4, 93.45, 4, 48.59, 59.21, 0.196, 0.079, 0.184),
        ("gist-mem", 0, 96.89, 0, 55.31, 68.22, 0.233, 0.091, 0.218),
        ("read-agent-p", 1, 95.15, 0.94, 58.92, 71.89, 0.244, 0.101, 0.230),
        ("read-agent-p", 2, 94.79, 1.23, 59.84, 72.29, 0.239, 0.098, 0.224),
        ("read-agent-p", 3, 94.39, 1.50, 59.84, 71.89, 0.240, 0.098, 0.226),
        ("read-agent-s", 2, 94.35, 1.38, 57.89, 71.14, 0.239, 0.097, 0.225),
        ("read-agent-s", 3, 94.08, 1.57, 58.52, 71.49, 0.242, 0.098, 0.229),
    ),
)
MOVIES = Table(
    "Table 2",
    "NarrativeQA movies validation, 57 documents, 1,699 questions",
    "PaLM 2-L",
    _narrative(
        ("bm25", 1, 97.07, 1, 32.67, 42.61, 0.156, 0.058, 0.144),
        ("bm25", 2, 94.12, 2, 39.97, 50.21, 0.187, 0.070, 0.174),
        ("bm25", 3, 91.18, 3, 43.61, 53.91, 0.198, 0.077, 0.185),
        ("bm25", 4, 88.24, 4, 46.85, 57.62, 0.210, 0.084, 0.198),
        ("neural", 1, 97.07, 1, 32.02, 41.44, 0.153, 0.053, 0.142),
        ("neural", 2, 94.19, 2, 43.20, 51.38, 0.160, 0.057, 0.148),
        ("neural", 3, 91.29, 3, 47.56, 56.21, 0.176, 0.064, 0.163),
        ("neural", 4, 88.38, 4, 49.09, 59.33, 0.193, 0.075, 0.180),
        ("gist-mem", 0, 92.09, 0, 52.56, 64.39, 0.242, 0.103, 0.227),
        ("read-agent-p", 1, 89.20, 0.99, 53.38, 65.57, 0.247, 0.106, 0.233),
        ("read-agent-p", 2, 87.68, 1.52, 54.62, 65.63, 0.238, 0.098, 0.223),
        ("read-agent-p", 3, 86.57, 1.91, 54.91, 65.86, 0.241, 0.099, 0.225),
        ("read-agent-s", 2, 86.36, 1.98, 59.33, 68.28, 0.203, 0.082, 0.188),
        ("read-agent-s", 3, 83.56, 2.95, 59.45, 68.81, 0.210, 0.087, 0.195),
    ),
)


def _meetings(
    *rows: tuple[str, int, float, float, float, float, float, tuple[float, float, float]],
) -> tuple[Published, ...]:
    return tuple(
        Published(method, k, cr, pages, lr1, sd, lr2, rouge) for method, k, cr, pages, lr1, sd, lr2, rouge in rows
    )


QMSUM = Table(
    "Table 3",
    "QMSum validation, 35 documents, 272 questions",
    "PaLM 2-L",
    _meetings(
        ("bm25", 1, 95.69, 1, 32.48, 1.65, 63.85, (27.53, 7.00, 18.45)),
        ("bm25", 2, 91.48, 2, 29.41, 0.60, 71.57, (28.85, 7.59, 19.34)),
        ("bm25", 3, 86.93, 3, 34.80, 1.14, 79.53, (30.69, 8.40, 20.64)),
        ("bm25", 4, 82.55, 4, 35.66, 0.30, 81.13, (31.10, 8.53, 20.36)),
        ("bm25", 5, 78.13, 5, 39.09, 0.92, 84.44, (31.16, 8.52, 20.69)),
        ("bm25", 6, 73.97, 6, 37.87, 0.90, 83.70, (31.06, 8.38, 20.43)),
        ("neural", 1, 95.99, 1, 34.80, 1.39, 68.87, (27.86, 7.12, 18.76)),
        ("neural", 2, 92.02, 2, 40.32, 0.92, 81.50, (30.17, 8.03, 19.80)),
        ("neural", 3, 87.93, 3, 40.93, 1.35, 85.17, (31.36, 8.67, 20.68)),
        ("neural", 4, 83.71, 4, 40.56, 0.62, 84.31, (31.52, 8.59, 20.40)),
        ("neural", 6, 75.44, 6, 40.81, 0.52, 87.01, (31.92, 8.73, 20.82)),
        ("gist-mem", 0, 83.13, 0, 40.20, 0.96, 89.83, (31.00, 7.99, 20.15)),
        ("read-agent-p", 1, 80.00, 0.98, 40.56, 0.46, 89.46, (31.26, 8.22, 20.29)),
        ("read-agent-p", 2, 77.38, 1.71, 39.71, 1.87, 89.71, (31.11, 8.01, 20.21)),
        ("read-agent-p", 3, 75.07, 2.53, 38.36, 1.21, 89.71, (31.50, 8.15, 20.45)),
        ("read-agent-p", 4, 73.48, 3.08, 39.95, 1.51, 90.56, (31.34, 8.08, 20.26)),
        ("read-agent-p", 5, 72.29, 3.50, 37.99, 0.96, 87.75, (31.16, 8.06, 20.35)),
        ("read-agent-s", 6, 70.34, 3.55, 46.57, 0.87, 91.54, (32.90, 8.87, 21.15)),
    ),
)

_BY_KIND = {
    ("quality", "article"): QUALITY,
    ("qmsum", "meeting"): QMSUM,
    ("scrolls", "meeting"): QMSUM,
    ("narrativeqa", "book"): GUTENBERG,
    ("narrativeqa", "script"): MOVIES,
}


def table_for(kind: str, preset: str) -> Table | None:
    """The paper's table for a kind of dataset and of text; None where the paper has none."""
    return _BY_KIND.get((kind, preset))


def row_for(table: Table | None, method: str, look_ups: int) -> Published | None:
    """The published row of a method; methods that look nothing up match whatever ``look_ups`` says."""
    for row in table.rows if table else ():
        if row.method == method and (row.look_ups == look_ups or row.look_ups == 0):
            return row
    return None
