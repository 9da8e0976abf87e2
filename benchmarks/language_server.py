"""What a keystroke costs a warm language server, in units of parsing the file.

    python benchmarks/language_server.py FILE [--keystrokes N]

opens FILE as an editor does, with the project around it as it lies on the disk, and types: an expression within a
function, a line that moves all below it, and a function that other files could see. Each keystroke waits for its
diagnostics. CPU seconds are those of the server's whole process (Linux), beside `ast.parse` of the same text.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SERVER = [sys.executable, "-P", "-m", "migrate_lint", "server"]


class Client:
    """The other end of the server's pipes."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(self, method: str, params: dict[str, Any], number: int | None = None) -> None:
        """A notification, or a request with a number."""
        message = {"jsonrpc": "2.0", "method": method, "params": params} | ({} if number is None else {"id": number})
        data = json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self.process.stdin.flush()

    def wait_for(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The next message that is wanted."""
        while not wanted(message := self._message()):
            pass
        return message

    def _message(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while line := self.process.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return message

    def cpu(self) -> float:
        """CPU seconds of the process so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def keystrokes(client: Client, uri: str, texts: Iterator[str]) -> list[float]:
    """CPU seconds of each text that takes the place of the one before."""
    costs = []
    for version, text in enumerate(texts, 2):
        before = client.cpu()
        document = {"uri": uri, "version": version}
        client.send("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
        client.wait_for(lambda one: one.get("method") == "textDocument/publishDiagnostics")
        costs.append(client.cpu() - before)
    return costs


def main() -> int:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--keystrokes", type=int, default=50, metavar="N")
    options = parser.parse_args()
    path, text = options.file.resolve(), options.file.read_text("utf-8")
    starts = []
    for _ in range(20):
        start = time.process_time()
        ast.parse(text)
        starts.append(time.process_time() - start)
    bare = statistics.median(starts)
    client = Client()
    client.send("initialize", {"processId": None, "rootUri": path.parent.as_uri(), "capabilities": {}}, 1)
    client.wait_for(lambda one: one.get("id") == 1)
    client.send("initialized", {})
    document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": text}
    client.send("textDocument/didOpen", {"textDocument": document})
    client.wait_for(lambda one: one.get("method") == "textDocument/publishDiagnostics")
    print(f"the first look: {client.cpu():.2f} s; ast.parse of {text.count(chr(10))} lines: {1000 * bare:.1f} ms")
    ways = {
        "an expression": lambda number: f"{text}\nprint({number})\n",
        "a line at the top": lambda number: "\n" * (number + 1) + text,
        "a function": lambda number: f"{text}\n\ndef f{number}():\n    pass\n",
    }
    for name, way in ways.items():
        keystrokes(client, path.as_uri(), (way(number) for number in range(3)))
        costs = keystrokes(client, path.as_uri(), (way(number) for number in range(3, 3 + options.keystrokes)))
        mean = statistics.fmean(costs)
        most = f"at most {1000 * max(costs):.0f} ms"
        print(f"{name}: {1000 * mean:.0f} ms a keystroke, {mean / bare:.1f} x ast.parse; {most}")
    client.process.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main())
