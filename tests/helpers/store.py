"""A store of objects for tests: moto's S3 on this machine, which counts requests and can fail."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pyarrow import fs

# What the store answers in place of an object.
FAULTS = {"503": ("503 Slow Down", b"<Error><Code>SlowDown</Code><Message>Reduce your rate.</Message></Error>")}
DENIED = "403 Forbidden", b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"

KEYS = {"key": "user", "secret": "SECRET"}


class Store:
    """An S3 store at `url`, with a bucket called bucket.

    `requests` has the method and the path of each request since the last `clear`. `fault` may name a fault for a
    request: "503" or "reset".
    """

    def __init__(self) -> None:
        from moto.server import DomainDispatcherApplication, create_backend_app
        from werkzeug.serving import make_server

        self.requests: list[tuple[str, str]] = []
        self.fault: Callable[[str, str], str | None] = lambda method, path: None
        self._app = DomainDispatcherApplication(create_backend_app)
        self.server = make_server("127.0.0.1", 0, self._answer, threaded=True)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        keys = {"access_key": "user", "secret_key": "SECRET", "endpoint_override": self.url}
        once = fs.AwsStandardS3RetryStrategy(max_attempts=1)
        self.impatient = fs.S3FileSystem(**keys, retry_strategy=once)  # fails at once, not after seconds
        self.filesystem = fs.S3FileSystem(**keys, allow_bucket_creation=True)
        self.filesystem.create_dir("bucket")
        self.options = {**KEYS, "endpoint_url": self.url}

    def _answer(self, environ: dict[str, Any], start: Callable[..., Any]) -> Any:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        self.requests.append((method, path))
        fault = self.fault(method, path)
        if fault == "reset":
            environ["werkzeug.socket"].shutdown(2)
        signed = "HTTP_AUTHORIZATION" in environ
        if signed and fault not in FAULTS:
            return self._app(environ, start)
        status, text = FAULTS.get(str(fault), DENIED)
        start(status, [("Content-Type", "application/xml"), ("Content-Length", str(len(text)))])
        return [b"" if method == "HEAD" else text]

    def clear(self) -> None:
        """Forgets the requests and the faults."""
        self.requests.clear()
        self.fault = lambda method, path: None

    def upload(self, folder: Any, name: str) -> str:
        """Copies a local folder or file into the bucket; returns its address."""
        # Several at once can wait for each other forever with pyarrow 18.
        fs.copy_files(str(folder), f"bucket/{name}", fs.LocalFileSystem(), self.filesystem, use_threads=False)
        return f"s3://bucket/{name}"


@contextmanager
def store() -> Iterator[Store]:
    """A context with a store; the test is skipped where moto is not installed."""
    pytest.importorskip("moto.server", reason="needs moto: pip install 'moto[server,s3]'")
    pytest.importorskip("werkzeug", reason="needs moto: pip install 'moto[server,s3]'")
    opened = Store()
    try:
        yield opened
    finally:
        opened.server.shutdown()
