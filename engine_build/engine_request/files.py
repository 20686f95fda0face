"""Names of the input and output files of a container."""

REQUEST, ONNX, SCRIPT = "request.json", "model.onnx", "script.zip"
PLAN, RECORD = "model.plan", "record.json"
"""The record is written last: without one there is no plan."""
