"""The config of a run from before each algorithm and judge had settings of its own: every key, whoever read it."""

FORMER = {
    "run": {"name": "old", "seed": 3},
    "tasks": {"suite": "webshop"},
    "judge": {"kind": "rules", "url": "https://api.openai.com/v1", "model": "", "max_pending": 7, "attempts": 6},
    "replay": {
        "capacity": 400, "priority_exponent": 0.5, "td_error_weight": 1.0, "ratio_weight": 0.25,
        "entropy_weight": 0.125, "failure_priority": 0.5, "corrected": "critics",
    },
    "algorithm": {
        "name": "a_ride", "discount": 0.97, "trace_decay": 0.9, "ratio_clip": 1.25, "instruction_filter": 0.5,
        "surrogate_clip": 0.2, "vtrace_ratio_clip": 1.0, "failure_weight": 0.0,
    },
}  # fmt: skip
