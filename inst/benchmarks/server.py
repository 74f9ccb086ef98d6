"""The FastAPI side of the serving cases: server.py DIR. One worker of uvicorn with uvloop and httptools."""
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

folder = Path(sys.argv[1])
solution = np.fromfile(folder / "solution.bin")
intercept, coefs = solution[0], solution[1:]
app = FastAPI()


class Rows(BaseModel):
    features: list[list[float]]


# A coroutine runs on the event loop itself; a plain function would go to a pool of threads, which is slower here. So is
# an answer as a pydantic model or a dict (by 5 to 20 %), which FastAPI has to check or to encode first.
@app.post("/v1/predict")
async def predict(rows: Rows):
    logits = np.array(rows.features) @ coefs + intercept
    return JSONResponse({"probabilities": (1 / (1 + np.exp(-logits))).tolist()})


listening = socket.create_server(("127.0.0.1", 0))
names = ["fastapi", "starlette", "pydantic", "uvicorn", "uvloop", "httptools", "numpy"]
versions = [f"{name} {importlib.metadata.version(name)}" for name in names]
ready = folder / "fastapi.server.new"
ready.write_text(f"pid: {os.getpid()}\nport: {listening.getsockname()[1]}\nversion: {', '.join(versions)}\n")
ready.rename(folder / "fastapi.server")
config = uvicorn.Config(app, loop="uvloop", http="httptools", access_log=False, log_level="warning")
uvicorn.Server(config).run(sockets=[listening])
