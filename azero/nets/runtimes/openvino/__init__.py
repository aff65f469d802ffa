"""The net run by OpenVINO, the fastest library on a CPU."""
