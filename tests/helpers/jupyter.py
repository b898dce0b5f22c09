"""JupyterLab in a headless browser: cells are run one by one, and what they print comes back."""

import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from helpers.reference import PROJECT

# Nothing of JupyterLab asks for news or other addresses.
SETTINGS = {
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/docmanager-extension/plugin": {"autosave": False},
}
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
NOTEBOOK = {"metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5}

READY = """
const shown = window.jupyterapp?.shell.currentWidget;
return shown?.context?.isReady && shown.sessionContext.session?.kernel?.status === "idle";
"""
RUN = """
const [position, code, done] = arguments;
const { content } = jupyterapp.shell.currentWidget;
content.activeCellIndex = position;
const { model } = content.activeCell;
model.sharedModel.setSource(code);
jupyterapp.commands.execute("notebook:run-cell").then(() => done(JSON.stringify(model.outputs.toJSON())));
"""

PATIENCE = 60  # seconds, for a machine with other work


@contextmanager
def jupyterlab(folder: Path) -> Iterator[str]:
    """Starts JupyterLab in a folder, and yields its address; the test is skipped where it is not installed."""
    if importlib.util.find_spec("jupyterlab") is None or importlib.util.find_spec("anywidget") is None:
        pytest.skip("JupyterLab or anywidget is not here; `make browser` installs them")
    settings = folder / "settings"
    for plugin, values in SETTINGS.items():
        place, name = plugin.rsplit("/", 1)
        (settings / place).mkdir(parents=True, exist_ok=True)
        (settings / place / f"{name}.jupyterlab-settings").write_text(json.dumps(values))
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    options = ["--no-browser", "--allow-root", "--expose-app-in-browser", "--ServerApp.ip=127.0.0.1"]
    options += [f"--ServerApp.port={port}", "--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True"]
    options += [f"--ServerApp.root_dir={folder}", f"--LabApp.user_settings_dir={settings}", "--LabApp.news_url="]
    options += [f"--LabApp.workspaces_dir={folder / 'workspaces'}"]
    environment = os.environ | {"PYTHONPATH": str(PROJECT), "JUPYTER_RUNTIME_DIR": str(folder / "runtime")}
    environment |= {"JUPYTER_CONFIG_DIR": str(folder / "config"), "IPYTHONDIR": str(folder / "ipython")}
    with (folder / "log").open("wb") as log:
        command = [sys.executable, "-m", "jupyterlab", *options]
        server = subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=folder)
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_for(f"{address}/api", server, folder / "log")
            yield address
        finally:
            server.terminate()
            server.wait(30)


def _wait_for(address: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    """Waits until a server answers."""
    for _ in range(10 * PATIENCE):
        try:
            urlopen(address, timeout=5).close()
        except (URLError, OSError):
            assert server.poll() is None, log.read_text()
            time.sleep(0.1)
        else:
            return
    pytest.fail(log.read_text())


class Notebook:
    """A notebook of two cells that is open in JupyterLab: the first shows widgets, the second prints."""

    def __init__(self, driver: webdriver.Chrome, address: str, folder: Path):
        cell = {"cell_type": "code", "source": "", "metadata": {}, "outputs": [], "execution_count": None}
        cells = [cell | {"id": "shows"}, cell | {"id": "prints"}]
        (folder / "notebook.ipynb").write_text(json.dumps(NOTEBOOK | {"cells": cells}))
        self.driver = driver
        driver.set_script_timeout(PATIENCE)
        driver.get(f"{address}/doc/tree/notebook.ipynb?reset")
        self.wait(READY)

    def wait(self, script: str, *arguments: Any) -> Any:
        """Waits until a script returns something true, and returns it."""
        return WebDriverWait(self.driver, PATIENCE, 0.05).until(lambda one: one.execute_script(script, *arguments))

    def show(self, code: str) -> WebElement:
        """Runs code in the first cell, and returns the explorer that it shows once this has drawn a frame."""
        self._run(0, code)
        self.wait("return document.querySelector('.explorer .viewer-status')?.textContent")
        return self.driver.find_element(By.CSS_SELECTOR, ".explorer")

    def run_all(self, code: str) -> Any:
        """Runs code in the first cell, and returns its outputs."""
        return self._run(0, code)

    def run(self, code: str) -> str:
        """Runs code in the second cell, and returns what it printed."""
        outputs = self._run(1, code)
        return "".join("".join(output["text"]) for output in outputs if output["output_type"] == "stream")

    def _run(self, cell: int, code: str) -> Any:
        outputs = json.loads(self.driver.execute_async_script(RUN, cell, code))
        errors = [output for output in outputs if output["output_type"] == "error"]
        assert not errors, "\n".join(errors[0]["traceback"])
        return outputs
