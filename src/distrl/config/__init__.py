"""Every setting of a run, typed and documented. Importing this package imports neither torch nor ray.

A config is a YAML file plus dotted overrides: `distrl train quickstart learner.learning_rate=1e-4`.
"""

from __future__ import annotations

from distrl.config.files import CONFIG_FOLDERS, find_config, known_configs, load_config, to_yaml, with_free_name
from distrl.config.judging import JudgeConfig
from distrl.config.learning import AlgorithmConfig, LearnerConfig, PacingConfig, ReplayConfig
from distrl.config.playing import DevicesConfig, PolicyConfig, TasksConfig, WorkersConfig
from distrl.config.run import Config, EvaluationConfig, RunConfig, RuntimeConfig
from distrl.config.settings import PositiveFloat, Settings, UnitFloat

__all__ = [
    "CONFIG_FOLDERS",
    "AlgorithmConfig",
    "Config",
    "DevicesConfig",
    "EvaluationConfig",
    "JudgeConfig",
    "LearnerConfig",
    "PacingConfig",
    "PolicyConfig",
    "PositiveFloat",
    "ReplayConfig",
    "RunConfig",
    "RuntimeConfig",
    "Settings",
    "TasksConfig",
    "UnitFloat",
    "WorkersConfig",
    "find_config",
    "known_configs",
    "load_config",
    "to_yaml",
    "with_free_name",
]
