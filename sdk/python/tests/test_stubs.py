"""Generated code is what the contract gives."""

import os
import subprocess
import sys
from pathlib import Path

from conftest import HERE

from mcphost._service import Service
from mcphost.plugin.v1 import plugin_pb2 as pb


def test_the_committed_messages_are_what_the_contract_gives(tmp_path: Path) -> None:
    subprocess.run([HERE.parent / "generate.sh", tmp_path], check=True, env={**os.environ, "PYTHON": sys.executable})
    for name in ("plugin_pb2.py", "plugin_pb2.pyi"):
        committed = HERE.parent / "src/mcphost/plugin/v1" / name
        assert committed.read_text() == (tmp_path / "mcphost/plugin/v1" / name).read_text(), "run sdk/python/generate.sh"


def test_every_method_of_the_contract_is_answered_or_not_announced() -> None:
    methods = {m.name for m in pb.DESCRIPTOR.services_by_name["PluginService"].methods}
    assert {m for m in methods if not hasattr(Service, m)} == {"ListResources"}
