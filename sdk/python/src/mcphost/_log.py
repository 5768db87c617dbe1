"""The operator's log: hclog's JSON on standard error, which a host of go-plugin reads."""

from __future__ import annotations

import datetime
import json
import logging
import os
import sys
import traceback

_HERE = os.path.dirname(__file__) + os.sep
_OWN = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_LEVELS = ((logging.ERROR, "error"), (logging.WARNING, "warn"), (logging.INFO, "info"), (0, "debug"))


class Formatter(logging.Formatter):
    """Writes a record as one line of JSON. What was given as extra= follows as pairs."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "@level": next(word for level, word in _LEVELS if record.levelno >= level),
            "@message": record.getMessage(),
            "@module": record.name,
            "@timestamp": datetime.datetime.fromtimestamp(record.created, datetime.timezone.utc).isoformat(timespec="microseconds"),
        }
        line.update((key, value) for key, value in vars(record).items() if key not in _OWN)
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = repr(record.exc_info[1])
            line["stack"] = stack(record.exc_info[1])
        return json.dumps(line, default=str)  # in ASCII: whatever standard error's encoding is


def stack(e: BaseException) -> str:
    """Where e was raised, innermost first and on one line: a host cuts what is long. The frames of this package are left out."""
    frames = reversed(traceback.extract_tb(e.__traceback__))
    places = [f"{f.name} ({f.filename}:{f.lineno})" for f in frames if not f.filename.startswith(_HERE)]
    cause = e.__cause__ or (None if e.__suppress_context__ else e.__context__)
    return " < ".join(places) + (f"; after {cause!r}: {stack(cause)}" if cause is not None else "")


def install() -> None:
    """Sends every logger of the process to the host, INFO and up."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Formatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
