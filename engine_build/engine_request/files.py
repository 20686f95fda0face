"""The names of the files that a container gets, and of those that it leaves."""

REQUEST, ONNX, SCRIPT = "request.json", "model.onnx", "script.zip"
PLAN, RECORD = "model.plan", "record.json"
"""The record is written last: without one there is no plan."""
