"""The service under test, with folders of its own."""

import contextlib
import json
import os
import subprocess
import threading


def plain_environment(folder):
    """The environment of a user whose home is the folder."""
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    for name in ("PYTHONPATH", "VIRTUAL_ENV", "DISPLAY", "EDITOR", "BROWSER"):
        environment.pop(name, None)
    return environment | {
        "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder), "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_CACHE_HOME": str(folder / "cache"), "XDG_STATE_HOME": str(folder / "state"),
        "XDG_DATA_HOME": str(folder / "data"),
    }


@contextlib.contextmanager
def service(program, folder, network, gateway):
    """Runs `feedimg serve` on a free port. Yields the value that `feedimg gateway` names for each kind of client."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = plain_environment(folder)
    process = subprocess.Popen(
        [program, "serve", "--port=0", "--allow-private", f"--network={network}", f"--gateway={gateway}"],
        env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8",
    )
    try:
        line = process.stderr.readline()
        if "serving on" not in line:
            raise SystemExit(f"the service did not start: {line}{process.stderr.read()}")
        threading.Thread(target=process.stderr.read, daemon=True).start()
        printed = subprocess.run([program, "gateway", "--json"], env=environment, stdout=subprocess.PIPE, check=True)
        yield {client["name"]: client["value"] for client in json.loads(printed.stdout)["clients"]}
    finally:
        process.terminate()
        process.wait(30)
