"""Makes the docs site: python docs/site/build.py [FOLDER]

Puts the pages together in out/docs_source, has Sphinx run their code and make HTML of them in FOLDER (by default
out/docs), and checks each link of the result. Any warning, and any link that leads nowhere, makes the exit status 1.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import kernel
import links
import pages
import thumbnails

PROJECT = Path(__file__).parents[2]
SOURCE = PROJECT / "out" / "docs_source"


def main(target: Path) -> int:
    for folder in (SOURCE, target):
        shutil.rmtree(folder, ignore_errors=True)
    pages.put_together(PROJECT, SOURCE)
    kernel.prepare(SOURCE)
    options = ["--builder", "html", "--fail-on-warning", "--keep-going", "--jobs", "2", "--quiet"]
    doctrees = ["--doctree-dir", str(SOURCE / ".doctrees")]
    command = [sys.executable, "-m", "sphinx", *options, *doctrees, str(SOURCE), str(target)]
    failed = subprocess.run(command, env=os.environ | kernel.settings(SOURCE), check=False).returncode
    if (target / "gallery.html").exists():  # Sphinx may have failed before, and said why
        thumbnails.add(target / "gallery.html")
    problems = links.problems(target)
    for problem in problems:
        print(problem, file=sys.stderr)
    if not failed and not problems:
        print(f"open {os.path.relpath(target / 'index.html')}")
    return 1 if failed or problems else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve() if sys.argv[1:] else PROJECT / "out" / "docs"))
