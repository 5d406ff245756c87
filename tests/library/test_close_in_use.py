"""A library that is closed while another thread works with it: the process lives on, and so does the other's work."""

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys, threading
from pathlib import Path
from readagent_core.library.schema import Database

database, done = Database(Path(sys.argv[1])), []

def work() -> None:
    for _ in range(40):
        count = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) SELECT sum(i) FROM n"
        done.append(database.row(count)[0])
        done.append(database.change("DELETE FROM document WHERE id = ''"))

threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
while any(thread.is_alive() for thread in threads):
    database.close()
print(len(done))
"""


def test_a_library_is_closed_while_others_work_with_it(tmp_path: Path) -> None:
    """In a process of its own: SQLite ends it when a connection in use is closed."""
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "library.db")], capture_output=True, text=True, timeout=120
    )
    assert (found.returncode, found.stdout, found.stderr) == (0, "240\n", "")
