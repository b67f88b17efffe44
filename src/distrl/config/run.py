"""Settings of a run as a whole: where it lives and ends, how it is evaluated, who runs where; and all of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from distrl.config.former import MOVED
from distrl.config.judging import JUDGE, JudgeConfig
from distrl.config.learning import ALGORITHM, AlgorithmConfig, LearnerConfig, PacingConfig, ReplayConfig
from distrl.config.playing import DevicesConfig, PolicyConfig, TasksConfig, WorkersConfig
from distrl.config.settings import PositiveFloat, Settings


class RunConfig(Settings):
    """Where a run lives and when it ends."""

    name: str = "run"
    """Name of the run; its folder is `folder/name`. `{n}` in it becomes nothing, or -2, -3 … where that is taken."""

    folder: Path = Path("runs")
    """Folder that holds all runs."""

    seed: NonNegativeInt = 0
    """Seeds tasks, devices, sampling and the learner."""

    minutes: PositiveFloat | None = None
    """Training ends after this much wall-clock, evaluation not counted. null: no limit."""

    learner_steps: PositiveInt | None = None
    """Training ends after this many learner steps. null: no limit."""

    trajectories: PositiveInt | None = None
    """Training ends once this many trajectories were inserted. null: no limit."""

    minimum_free_mb: NonNegativeInt = 200
    """Below this much free disk, workers are held and the run waits until space is freed."""


class EvaluationConfig(Settings):
    """Held-out tasks, played before and after training and never learned from."""

    split: str = "test-instances"
    """Split that evaluation tasks come from."""

    episodes: PositiveInt = 128
    """Tasks played per evaluation."""

    temperature: NonNegativeFloat = 1.0
    """Sampling temperature of evaluation; 0 takes the likeliest token."""

    before: bool = True
    """Evaluate the policy before training."""

    after: bool = True
    """Evaluate the policy after training."""

    every_minutes: PositiveFloat | None = None
    """Evaluate also while training goes on; null: only before and after."""


class RuntimeConfig(Settings):
    """Who runs where."""

    address: str = "local"
    """Ray cluster: `local` starts one on this machine that listens on loopback only, or an address."""

    port: Annotated[int, Field(ge=1024, le=65535)] | None = None
    """Port for a Ray that we start ourselves; null takes any that is free."""

    listen: str | None = None
    """Address of this machine at which others join a Ray that we start ourselves, with `distrl worker` and its token.
    127.0.0.1 lets only this machine join; with any other address Ray listens on all interfaces. null: nobody joins."""

    token: Path | None = None
    """File with the token that joining takes, mode 0600. null makes a new one in the run folder at every start."""

    object_store_mb: PositiveInt = 512
    """Shared memory for a Ray that we start ourselves."""

    host_cpus: NonNegativeFloat = 0.0
    """CPUs that Ray reserves for the host process."""

    wait_s: PositiveFloat = 120.0
    """Longest wait for any process of ours to answer before we say which one is silent."""

    worker_cpus: NonNegativeFloat = 0.0
    """CPUs that Ray reserves for each worker process."""

    worker_gpus: NonNegativeFloat = 0.0
    """GPUs, or a share of one, that Ray reserves for each worker process; 0 lets it see all of its machine."""

    device_resource: str = ""
    """Name of a custom Ray resource. Each worker takes `devices.per_worker` of it, so that Ray starts workers on the
    nodes that have devices to give. Empty: workers run anywhere."""

    learner_gpus: NonNegativeFloat = 0.0
    """GPUs that Ray reserves for the learner; 0 lets it see all of its machine."""

    policy_servers: PositiveInt = 1
    """Processes that hold the policy for all workers, with `workers.inference=remote`."""

    server_cpus: NonNegativeFloat = 0.0
    """CPUs that Ray reserves for each policy server."""

    server_gpus: NonNegativeFloat = 0.0
    """GPUs, or a share of one, that Ray reserves for each policy server; 0 lets it see all of its machine."""

    max_restarts: NonNegativeInt = 5
    """How often a process that died is started again before the run ends; each has its own count."""

    serial_step_s: PositiveFloat = 1.0
    """Virtual seconds that a learner step takes in the serial runtime."""

    serial_batch_s: PositiveFloat = 0.05
    """Virtual seconds that one inference batch takes in the serial runtime."""

    progress_s: PositiveFloat = 5.0
    """Seconds between two lines of progress when the output is no terminal."""


class Config(Settings):
    """A whole run."""

    moved: ClassVar[Mapping[str, str]] = MOVED
    """Former keys and where they are now."""

    run: RunConfig = RunConfig()
    devices: DevicesConfig = DevicesConfig()
    tasks: TasksConfig = TasksConfig()
    judge: Annotated[JudgeConfig, JUDGE] = Field(default_factory=JUDGE.defaults)
    policy: PolicyConfig = PolicyConfig()
    workers: WorkersConfig = WorkersConfig()
    replay: ReplayConfig = ReplayConfig()
    pacing: PacingConfig = PacingConfig()
    algorithm: Annotated[AlgorithmConfig, ALGORITHM] = Field(default_factory=ALGORITHM.defaults)
    learner: LearnerConfig = LearnerConfig()
    evaluation: EvaluationConfig = EvaluationConfig()
    runtime: RuntimeConfig = RuntimeConfig()

    @property
    def run_folder(self) -> Path:
        return self.run.folder / self.run.name
