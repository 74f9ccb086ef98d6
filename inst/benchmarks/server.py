"""The FastAPI side of the serving cases: server.py DIR SETTING. One worker of uvicorn with uvloop and httptools.

SETTING is how the answer is made: "model" (a pydantic model, as FastAPI's documentation has it), "dict" (a plain dict,
which FastAPI encodes) or "response" (a JSONResponse made by the handler, without FastAPI's encoding).
"""
import importlib.metadata
import os
import socket
import sys
from pathlib import Path

import numpy as np
import uvicorn
from fastapi import FastAPI
from fastapi.responses import JSONResponse
from pydantic import BaseModel

folder, setting = Path(sys.argv[1]), sys.argv[2]
solution = np.fromfile(folder / "solution.bin")
intercept, coefs = solution[0], solution[1:]
app = FastAPI()


class Rows(BaseModel):
    features: list[list[float]]


class Answer(BaseModel):
    probabilities: list[float]


def probabilities(rows):
    logits = np.array(rows.features) @ coefs + intercept
    return (1 / (1 + np.exp(-logits))).tolist()


# A coroutine runs on the event loop itself; a plain function would go to a pool of threads, which is slower here.
if setting == "model":
    @app.post("/v1/predict")
    async def predict(rows: Rows) -> Answer:
        return Answer(probabilities=probabilities(rows))
elif setting == "dict":
    @app.post("/v1/predict")
    async def predict(rows: Rows):
        return {"probabilities": probabilities(rows)}
else:
    @app.post("/v1/predict")
    async def predict(rows: Rows):
        return JSONResponse({"probabilities": probabilities(rows)})

listening = socket.create_server(("127.0.0.1", 0))
names = ["fastapi", "starlette", "pydantic", "uvicorn", "uvloop", "httptools", "numpy"]
versions = [f"{name} {importlib.metadata.version(name)}" for name in names]
ready = folder / "fastapi.server.new"
ready.write_text(f"pid: {os.getpid()}\nport: {listening.getsockname()[1]}\nversion: {', '.join(versions)}\n")
ready.rename(folder / "fastapi.server")
config = uvicorn.Config(app, loop="uvloop", http="httptools", access_log=False, log_level="warning")
uvicorn.Server(config).run(sockets=[listening])
