"""JupyterLab in a headless browser: cells are run one by one, and what they print comes back."""

import importlib.util
import json
import os
import shutil
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
from selenium.webdriver.support.ui import WebDriverWait

from helpers.reference import PROJECT

# What a container without a screen needs, and what keeps the browser itself from asking for anything.
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic"]

# Nothing of JupyterLab asks for news or other addresses.
SETTINGS = {
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/docmanager-extension/plugin": {"autosave": False},
}
NOTEBOOK = {"cells": [], "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}}, "nbformat": 4}

PATIENCE = 90  # seconds, for a machine with other work


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
    for _ in range(2 * PATIENCE):
        try:
            urlopen(address, timeout=5).close()
        except (URLError, OSError):
            assert server.poll() is None, log.read_text()
            time.sleep(0.5)
        else:
            return
    pytest.fail(log.read_text())


@contextmanager
def chromium(folder: Path) -> Iterator[webdriver.Chrome]:
    """A headless browser; the test is skipped where there is none."""
    browser, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or chromedriver is None:
        pytest.skip("chromium and its driver are not here; `make browser` installs them")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in [*FLAGS, f"--user-data-dir={folder}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(chromedriver))
    try:
        yield started
    finally:
        started.quit()


class Notebook:
    """A notebook that is open in JupyterLab in a browser."""

    def __init__(self, driver: webdriver.Chrome, address: str, folder: Path, name: str):
        (folder / f"{name}.ipynb").write_text(json.dumps(NOTEBOOK | {"nbformat_minor": 5}))
        self.driver = driver
        driver.get(f"{address}/doc/tree/{name}.ipynb?reset")
        self.wait(
            "return window.jupyterapp && jupyterapp.shell.currentWidget && "
            "jupyterapp.shell.currentWidget.context && jupyterapp.shell.currentWidget.context.isReady && "
            "jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === 'idle'"
        )

    def wait(self, script: str, *arguments: Any) -> Any:
        """Waits until a script returns something true, and returns it."""
        return WebDriverWait(self.driver, PATIENCE, 0.05).until(lambda one: one.execute_script(script, *arguments))

    def run(self, code: str) -> str:
        """Runs code in a new cell, and returns what it printed."""
        script = """
            const [code, done] = arguments;
            const { content, sessionContext } = jupyterapp.shell.currentWidget;
            const { commands } = jupyterapp;
            commands.execute("notebook:move-cursor-down")
              .then(() => commands.execute("notebook:insert-cell-below"))
              .then(() => { content.activeCell.model.sharedModel.setSource(code); return commands.execute("notebook:run-cell"); })
              .then(() => {
                const outputs = content.activeCell.model.outputs.toJSON();
                done(JSON.stringify(outputs));
              });
        """
        self.driver.set_script_timeout(PATIENCE)
        outputs = json.loads(self.driver.execute_async_script(script, code))
        errors = [output for output in outputs if output["output_type"] == "error"]
        assert not errors, errors[0]["traceback"]
        return "".join("".join(output["text"]) for output in outputs if output["output_type"] == "stream")
