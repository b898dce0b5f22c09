"""Builds the wheel and the source distribution into dist/, checks what they hold, and tries the wheel as users would.

`make wheel` runs it. The wheel is installed into a venv of its own, first without any extra and then with all of them,
and .ci/try_readme.py runs the README there, in a folder where nothing of the source tree can be imported. With all
extras, .ci/try_examples.py also runs the examples of all docstrings there, and docs/answers.py the code of all pages.
"""

import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
DIST = PROJECT / "dist"
README_SCRIPT = PROJECT / ".ci" / "try_readme.py"
EXAMPLES_SCRIPT = PROJECT / ".ci" / "try_examples.py"
PAGES_SCRIPT = PROJECT / "docs" / "answers.py"


def ran(*command: str | Path, folder: Path = PROJECT) -> str:
    """Runs a command and returns what it prints; exits with its errors if it fails."""
    done = subprocess.run(
        [str(text) for text in command], cwd=folder, capture_output=True, encoding="utf-8", errors="replace"
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def project_files() -> set[str]:
    """The files of the project, relative to it: those that git has, and new ones that it does not ignore."""
    listed = ran("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    return {name for name in listed if name and (PROJECT / name).is_file()}


def built() -> tuple[Path, Path]:
    """The new wheel and source distribution; both alone in dist/."""
    shutil.rmtree(DIST, ignore_errors=True)
    ran(sys.executable, "-m", "build", "--outdir", DIST, PROJECT)
    [wheel], [source] = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    return wheel, source


def compare(what: str, inside: set[str], wanted: set[str]) -> None:
    """Exits with the difference if the files in an archive are not those that belong there."""
    wrong = [f"{what} lacks {name}" for name in sorted(wanted - inside)]
    wrong += [f"{what} holds {name}" for name in sorted(inside - wanted)]
    if wrong:
        sys.exit("\n".join(wrong))


def check_files(wheel: Path, source: Path) -> None:
    """Exits unless the wheel holds the files of the package, and the source distribution those of the project."""
    files = project_files()
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    notes = {name for name in names if name.partition("/")[0].endswith(".dist-info")}
    package = {name for name in files if name.startswith("spotgeo_frames/")}
    compare(wheel.name, {*names} - notes, package)
    with tarfile.open(source) as archive:
        paths = [member.name.partition("/")[2] for member in archive if member.isfile()]
    compare(source.name, {*paths}, files | {"PKG-INFO"})
    print(f"{wheel.name}: {len(package)} files of the package; {source.name}: {len(paths)} files")


def check_metadata(wheel: Path, source: Path) -> None:
    """Exits unless twine and check-wheel-contents find nothing wrong."""
    print(ran(sys.executable, "-m", "twine", "check", "--strict", wheel, source), end="")
    print(ran(sys.executable, "-m", "check_wheel_contents", wheel), end="")


def try_wheel(wheel: Path) -> None:
    """Exits unless the wheel works in a venv without any extra, and with all of them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=True)
        python = folder / "venv" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
        for extras in ("", "[all]"):
            ran(python, "-m", "pip", "install", "--quiet", f"{wheel}{extras}")
            user = folder / f"user{extras}"
            user.mkdir()
            shutil.copytree(PROJECT / "data", user / "data")
            options = ["--all-extras"] if extras else []
            print(ran(python, "-I", README_SCRIPT, PROJECT / "README.md", *options, folder=user), end="")
        print(ran(python, "-I", EXAMPLES_SCRIPT, folder=user), end="")
        pages = ran(python, "-I", PAGES_SCRIPT, "--check", folder=user).splitlines()
        print(f"{len(pages)} pages of the docs give the answers that they show")


def main() -> None:
    wheel, source = built()
    check_files(wheel, source)
    check_metadata(wheel, source)
    try_wheel(wheel)


if __name__ == "__main__":
    main()
