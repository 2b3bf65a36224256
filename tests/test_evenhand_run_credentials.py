"""`evenhand run` with a program that repeats its credential wherever it can: none of it is recorded or shown."""

import base64
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

import pytest

ROOT = Path(__file__).resolve().parents[1]
KEY = "".join(["no", "-real", "/cred+ential", '="', "0123456789"])
FORMS = (
    KEY,
    json.dumps(KEY)[1:-1],
    quote(KEY, safe=""),
    base64.b64encode(KEY.encode()).decode().rstrip("=")[:-1],
    base64.b64encode(b":" + KEY.encode()).decode()[4:-4],
    KEY.encode().hex(),
)
# What it says is made from its own environment: the key is no part of its text.
PROGRAM = """
import base64, json, os, sys, time
from urllib.parse import quote
key = os.environ["FAKE_KEY"]
forms = [key, json.dumps(key)[1:-1], quote(key, safe=""), key.encode().hex(),
         base64.b64encode(key.encode()).decode(), base64.b64encode(b":" + key.encode()).decode()]
def say(line):
    print(json.dumps(line), flush=True)
    print(json.dumps(line), file=sys.stderr, flush=True)
for form in forms:
    say({"type": form})
if %(drifts)r:
    sys.exit(0)
say({"type": "session", "id": " ".join(forms)})
say({"type": "turn_start"})
for number, form in enumerate(forms):
    name = {"toolCallId": form, "toolName": form, "args": {"command": form}}
    say({"type": "tool_execution_start", **name})
    result = {"content": [{"type": "text", "text": form}]}
    say({"type": "tool_execution_end", **name, "isError": False, "result": result})
message = {"role": "assistant", "stopReason": "stop", "responseId": " ".join(forms), "model": key, "provider": key}
say({"type": "turn_end", "message": message})
open(%(said)r, "w").close()
time.sleep(%(stays_s)r)
say({"type": "agent_end", "messages": [message]})
"""


def start(folder: Path, *, drifts: bool = False, stays_s: float = 0) -> "subprocess.Popen[str]":
    """Start an experiment of one attempt with such a program."""
    (folder / "one.yaml").write_text("task_id: one\nprompt: Do it.\n", encoding="utf-8")
    arm = '{name: a, harness: pi, model: m, base_url: "http://127.0.0.1:9", key_name: FAKE_KEY}'
    text = f"study: tiny\nsimulated: true\nattempts: 1\narms: [{arm}]\ntasks: [one.yaml]\n"
    (folder / "experiment.yaml").write_text(text, encoding="utf-8")
    bin_ = folder / "bin"
    bin_.mkdir()
    said = {"drifts": drifts, "stays_s": stays_s, "said": str(folder / "said")}
    (bin_ / "pi").write_text(f"#!{sys.executable} -IS\n{PROGRAM % said}", encoding="utf-8")
    (bin_ / "pi").chmod(0o755)
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "evenhand", "run", "experiment.yaml", "--out", "out", "--json"],
        env={"PATH": f"{bin_}:/usr/bin:/bin", "HOME": str(bin_), "FAKE_KEY": KEY, "PYTHONPATH": str(ROOT)},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def recorded(folder: Path) -> dict[str, str]:
    """Return the text of every file of the run folder, by its name."""
    files = (path for path in (folder / "out").rglob("*") if path.is_file())
    return {path.name: path.read_text("utf-8") for path in files}


def require_clean(folder: Path, *said: str) -> None:
    for text in (*recorded(folder).values(), *said):
        decoded = text + (json.dumps(json.loads(text), ensure_ascii=False) if text.startswith("{\n") else "")
        assert [form for form in FORMS if form in decoded] == []


@pytest.mark.parametrize("drifts", [False, True])
def test_nothing_of_a_credential_is_recorded_or_shown(tmp_path: Path, *, drifts: bool) -> None:
    child = start(tmp_path, drifts=drifts)
    out, err = child.communicate(timeout=120)
    assert child.returncode == 0, err
    assert "[redacted]" in "".join((*recorded(tmp_path).values(), err))
    require_clean(tmp_path, out, err)


def test_nothing_of_a_credential_is_recorded_of_an_interrupted_try(tmp_path: Path) -> None:
    child = start(tmp_path, stays_s=600)
    end = time.monotonic() + 60
    while not (tmp_path / "said").exists() and time.monotonic() < end:
        time.sleep(0.01)
    os.kill(child.pid, signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130, err
    assert "[redacted]" in recorded(tmp_path)["interrupted-01.json"]
    require_clean(tmp_path, out, err)
