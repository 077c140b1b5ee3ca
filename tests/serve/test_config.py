"""Settings of the service: flags, environment variables and the file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rotting._serve import config


@pytest.mark.parametrize(
    ("flags", "environ", "file", "port", "origin"),
    [
        ({}, {}, "", 8100, "default"),
        ({}, {}, "port = 1", 1, "file"),
        ({}, {}, "rate-limit = 5\nport = 1", 1, "file"),  # as the flag is written
        ({}, {"ROTTING_SERVE_PORT": "2"}, "port = 1", 2, "environment"),
        ({"port": 3}, {"ROTTING_SERVE_PORT": "2"}, "port = 1", 3, "flag"),
        ({"port": None}, {"ROTTING_SERVE_PORT": "2"}, "", 2, "environment"),
        ({"port": 3}, {}, "port = 1", 3, "flag"),
    ],
)
def test_flags_before_variables_before_the_file(
    tmp_path: Path,
    flags: Mapping[str, Any],
    environ: Mapping[str, str],
    file: str,
    port: int,
    origin: str,
) -> None:
    path = tmp_path / "serve.toml"
    path.write_text(file)
    made, found = config.resolve(flags, {"OTHER": "x", **environ}, path)
    assert made.port == port
    assert found["port"] == (str(path) if origin == "file" else origin)


@pytest.mark.parametrize(
    ("flags", "environ", "file", "words"),
    [
        ({}, {}, 'port = "x"', r"port cannot be 'x' \(.*serve\.toml\)"),
        ({}, {}, "port = 65536", r"port cannot be 65536 \(.*serve\.toml\)"),
        ({}, {}, "ports = 1", r"got 'ports' \(.*serve\.toml\)"),
        ({}, {}, "port =", "must be TOML"),
        ({}, {"ROTTING_SERVE_PORT": "many"}, "", r"port cannot be 'many' \(environment\)"),
        ({}, {"ROTTING_SERVE_PROT": "1"}, "", r"got 'prot' \(environment\)"),
        ({}, {"ROTTING_SERVE_RATE_LIMIT": "nan"}, "", r"rate_limit cannot be 'nan' \(environment"),
        ({}, {"ROTTING_SERVE_GRACE": "inf"}, "", r"grace cannot be 'inf' \(environment\)"),
        ({"rate_limit": -1.0}, {}, "", r"rate_limit cannot be -1\.0 \(flag\)"),
        ({"log": "xml"}, {}, "", r"log must be text or json, got 'xml' \(flag\)"),
        ({"body_limit": 1}, {}, "", r"body_limit cannot be 1 \(flag\)"),
        ({}, {"ROTTING_SERVE_VERBOSE": "perhaps"}, "", r"verbose cannot be 'perhaps'"),
    ],
)
def test_wrong_settings_name_where_they_are_from(
    tmp_path: Path, flags: Mapping[str, Any], environ: Mapping[str, str], file: str, words: str
) -> None:
    path = tmp_path / "serve.toml"
    path.write_text(file)
    with pytest.raises(ValueError, match=words):
        config.resolve(flags, environ, path)
