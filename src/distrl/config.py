"""Every setting of a run, typed and documented. Importing this module imports neither torch nor ray.

A config is a YAML file plus dotted overrides: `distrl train quickstart learner.learning_rate=1e-4`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from distrl import loading
from distrl.errors import ConfigError, nearest

UnitFloat = Annotated[float, Field(ge=0.0, le=1.0)]
PositiveFloat = Annotated[float, Field(gt=0.0)]

CONFIG_FOLDERS = (Path("configs"), Path(__file__).parent / "configs")
"""Where a config is looked for by name: the user's own folder first, then what the package ships."""


class Settings(BaseModel):
    """Frozen, strict about names, documented by the string under each field."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
        validate_default=True,
        coerce_numbers_to_str=True,  # `run.name=7` names a run
    )


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


class DevicesConfig(Settings):
    """The phones, and how long we wait for them."""

    address: str = "sim://phone"
    """URL of the device, e.g. `sim://phone?latency=emulator`."""

    per_worker: PositiveInt = 8
    """Devices that one worker drives at the same time."""

    command_timeout_s: PositiveFloat = 60.0
    """A device that takes longer to answer one command is lost; its episode is invalid."""

    episode_timeout_s: PositiveFloat = 1800.0
    """An episode that lasts longer is invalid; its task is given back."""


class TasksConfig(Settings):
    """What the agent is asked to do."""

    suite: str = "general"
    """Suite of task templates: general or webshop."""

    only: tuple[str, ...] = ()
    """Templates to play, by the beginning of their name (`settings/`, `clock/add_alarm`), in training and evaluation
    alike; empty plays the whole suite."""

    split: str = "train"
    """Split that training tasks come from."""

    curriculum: Literal["uniform", "edge"] = "uniform"
    """uniform: every template equally often; edge: more often where success is near one half."""

    group_size: PositiveInt = 1
    """Each task is handed out this many times in a row. grpo compares the trajectories of one task and needs 2 or more;
    8 is usual."""

    lease_s: PositiveFloat = 3600.0
    """A task leased for longer than this is given back and played by somebody else."""


class PolicyConfig(Settings):
    """The model that looks at the screen and writes an action."""

    model: str = "pocket"
    """`pocket` (ships with the package) or a folder with any Hugging Face image-text-to-text model."""

    temperature: PositiveFloat = 1.0
    """Sampling temperature during training; the recorded log-probabilities are those of this distribution."""

    max_new_tokens: PositiveInt = 24
    """An action that is longer is cut and becomes invalid."""

    history: NonNegativeInt = 3
    """How many previous actions the prompt names."""

    freeze_vision: bool = True
    """Train the language model only; screenshot features are then computed once and cached by hash."""

    feature_cache_mb: PositiveInt = 1024
    """Memory for cached screenshot features, per process."""

    dtype: Literal["float32", "bfloat16"] = "float32"
    """Precision of the model's weights in memory."""

    device: str = "auto"
    """Torch device: `cpu`, `cuda`, or `auto` for a GPU where there is one."""

    batch_size: PositiveInt = 32
    """Most screens in one inference batch."""


class WorkersConfig(Settings):
    """Who plays."""

    count: PositiveInt = 1
    """Worker processes; each has its own policy copy and its own devices."""

    spool_mb: PositiveInt = 1024
    """A worker stops starting episodes when this much waits in its spool unacknowledged."""

    share_features: bool = True
    """Workers send the features of new screens along with a trajectory, so that the learner need not look at them
    again. Saves it most of its vision passes; costs more network than the screenshots themselves (55 KB per screen
    with `pocket`). Only with `policy.freeze_vision`."""


class ReplayConfig(Settings):
    """How trajectories wait for the learner, and which ones it sees."""

    capacity: PositiveInt = 2_000
    """Trajectories held; the oldest leaves first."""

    warmup: PositiveInt = 32
    """Trajectories that must be there before the learner starts."""

    priority_exponent: UnitFloat = 0.5
    """0 samples uniformly, 1 in proportion to priority (alpha in the paper)."""

    td_error_weight: NonNegativeFloat = 1.0
    """Weight of the mean absolute TD error in a trajectory's priority (w1)."""

    ratio_weight: NonNegativeFloat = 0.5
    """Weight of the mean importance ratio in a trajectory's priority (w2)."""

    entropy_weight: NonNegativeFloat = 0.1
    """Weight of the mean policy entropy in a trajectory's priority (w3)."""

    importance_exponent: UnitFloat = 0.4
    """Start of beta, which corrects for prioritised sampling; it is annealed to 1."""

    importance_anneal_steps: PositiveInt = 1_000
    """Learner steps over which beta reaches 1."""

    feature_cache_mb: PositiveInt = 512
    """Memory of the host for screenshot features that workers shared and the learner has not asked for yet; the
    oldest leave first, and the learner computes them from the screenshots."""


class PacingConfig(Settings):
    """How far playing may run ahead of learning."""

    max_lag: NonNegativeInt | None = None
    """Workers are held before they start an episode whose trajectory would be staler than this many
    versions when it is learned from. 0 is synchronous training; null never holds anybody."""

    trajectories_per_version: PositiveFloat = 4.0
    """How many new trajectories one learner step is expected to use up; turns a backlog into a lag."""

    max_reuse: PositiveFloat | None = None
    """The learner waits for new trajectories rather than see each one more often than this on average;
    None: it never waits."""


class AlgorithmConfig(Settings):
    """What the learner optimises. Letters in brackets are the paper's. Each setting says which algorithms read it; the
    others do not."""

    name: Literal["a_ride", "digirl", "filtered_bc", "grpo", "impala"] = "a_ride"
    """The algorithm: one file in `distrl/algorithms`. grpo needs `tasks.group_size` of 2 or more."""

    discount: UnitFloat = 0.9
    """a_ride, impala: how much a success is worth one step earlier (gamma)."""

    trace_decay: UnitFloat = 0.95
    """a_ride, impala: how far Retrace or V-trace looks ahead (lambda); 0 is one step, 1 is as far as the ratios allow.
    digirl: how much less the outcome says of a step for each step between."""

    ratio_clip: PositiveFloat = 1.5
    """a_ride: the importance ratio in the policy loss is truncated here (rho-bar)."""

    entropy_bonus: NonNegativeFloat = 0.003
    """a_ride, grpo, impala: weight of the policy's entropy in the loss (beta); 0 switches it off."""

    invalid_penalty: NonNegativeFloat = 0.2
    """a_ride, digirl, impala: taken from the reward of a step whose text was no action (kappa); 0 switches it off."""

    value_weight: NonNegativeFloat = 0.5
    """a_ride, digirl, impala: weight of the state value's cross-entropy in the loss."""

    trajectory_value_weight: NonNegativeFloat = 0.5
    """a_ride, digirl: weight of the trajectory value's cross-entropy in the loss."""

    trajectory_filter: UnitFloat = 0.0
    """a_ride: share of each sample left out because V_traj was least surprised by its outcome; 0 keeps all."""

    failure_weight: UnitFloat = 1.0
    """a_ride, grpo, impala: how much a negative advantage counts against a positive one. One wrong step fails an
    episode whose other steps were right; until the critic can tell them apart, less than 1 keeps what the policy can do
    already."""

    retrace: bool = True
    """a_ride: off, the one-step advantage of the paper's first formula."""

    normalise_advantage: bool = True
    """a_ride: divide a batch's advantages by their standard deviation."""

    instruction_filter: UnitFloat = 0.5
    """digirl: only trajectories at or above this quantile of R − V_instruct in the sample are learned from. The authors
    filter a whole round of hundreds at 0.9; of a sample of eight that would leave one."""

    surrogate_clip: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.2
    """grpo: the ratio has no gradient beyond 1 ± this, in the direction of the advantage (epsilon)."""

    vtrace_ratio_clip: PositiveFloat = 1.0
    """impala: the importance ratio in V-trace's TD errors and in the policy loss is truncated here (rho-bar)."""

    vtrace_trace_clip: PositiveFloat = 1.0
    """impala: the ratio in V-trace's traces is truncated here (c-bar)."""


class LearnerConfig(Settings):
    """How the weights move."""

    learning_rate: PositiveFloat = 1e-4
    """AdamW's step size for the policy."""

    critic_learning_rate: PositiveFloat = 1e-3
    """AdamW's step size for the value heads."""

    weight_decay: NonNegativeFloat = 0.01
    """AdamW's weight decay."""

    rate_half_life_steps: PositiveInt | None = None
    """Learner steps after which the policy's step size has halved; null: it stays. Early steps gain most, late ones
    with little data mostly add noise."""

    max_grad_norm: PositiveFloat = 1.0
    """Gradients are scaled down to this norm."""

    trajectories_per_step: PositiveInt = 8
    """Trajectories sampled for one learner step."""

    micro_batch: PositiveInt = 32
    """Steps that go through the model at once; bounds memory, changes nothing else."""

    resident_steps: PositiveInt = 128
    """Steps whose activations may stay in memory until all targets are known; a larger sample goes through the
    model twice, first for the targets and then for the gradient. Bounds memory, changes nothing else."""

    critic_warmup_steps: NonNegativeInt = 20
    """First learner steps, in which only the value heads learn. A critic that has seen nothing says 1/2 everywhere;
    its advantages would teach a policy that mostly fails that all it does is wrong."""

    rate_warmup_steps: NonNegativeInt = 10
    """Learner steps after that, over which the policy's step size rises to its full size: AdamW's first steps are
    mostly noise."""

    publish_every: PositiveInt = 1
    """Learner steps between two published versions."""

    checkpoint_every_s: PositiveFloat = 120.0
    """Seconds between two checkpoints."""

    keep_checkpoints: PositiveInt = 2
    """Checkpoints kept; older ones are deleted once a newer one is complete."""

    max_bad_steps: PositiveInt = 5
    """Learner steps in a row without a finite loss and gradient before it rolls back to the last checkpoint."""

    canary_trajectories: NonNegativeInt = 4
    """First trajectories whose log-probabilities the learner recomputes; it stops on mismatch."""

    canary_tolerance: PositiveFloat = 0.02
    """Largest difference in log-probability per token that the canary lets pass."""

    device: str = "auto"
    """Torch device of the learner: `cpu`, `cuda`, or `auto`."""


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
    """Port on loopback for a Ray that we start ourselves; null takes any that is free."""

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

    learner_gpus: NonNegativeFloat = 0.0
    """GPUs that Ray reserves for the learner; 0 lets it see all of its machine."""

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

    run: RunConfig = RunConfig()
    devices: DevicesConfig = DevicesConfig()
    tasks: TasksConfig = TasksConfig()
    policy: PolicyConfig = PolicyConfig()
    workers: WorkersConfig = WorkersConfig()
    replay: ReplayConfig = ReplayConfig()
    pacing: PacingConfig = PacingConfig()
    algorithm: AlgorithmConfig = AlgorithmConfig()
    learner: LearnerConfig = LearnerConfig()
    evaluation: EvaluationConfig = EvaluationConfig()
    runtime: RuntimeConfig = RuntimeConfig()

    @property
    def run_folder(self) -> Path:
        return self.run.folder / self.run.name


# --- loading ------------------------------------------------------------------------------------


def load_config(name_or_path: str | Path, overrides: Sequence[str] = ()) -> Config:
    """The config of that name, YAML file or run folder, with `a.b=value` overrides on top.

    Raises `ConfigError` that says which key or value is wrong and what would be right.
    """
    path = find_config(name_or_path)
    return loading.build(Config, loading.overlay(loading.read(path), overrides, Config), str(path))


def find_config(name_or_path: str | Path) -> Path:
    """A file is taken as it is, a run folder stands for the config in it, a name is looked up."""
    path = Path(name_or_path)
    if path.is_file():
        return path
    if (path / "config.yaml").is_file():
        return path / "config.yaml"
    for folder in CONFIG_FOLDERS:
        if (found := folder / f"{name_or_path}.yaml").is_file():
            return found
    known = known_configs()
    raise ConfigError(
        f"There is no config {str(name_or_path)!r}, neither as a file nor by name."
        f"{nearest(str(name_or_path), known)} Known: {', '.join(known)}."
    )


def known_configs() -> list[str]:
    return sorted({path.stem for folder in CONFIG_FOLDERS if folder.is_dir() for path in folder.glob("*.yaml")})


def to_yaml(config: Config) -> str:
    """Every setting, defaults included, in a form that `load_config` reads back."""
    return loading.dump(config.model_dump(mode="json"))


def with_free_name(config: Config) -> Config:
    """The same config with `{n}` in the run's name replaced, so that its folder does not exist yet."""
    if "{n}" not in config.run.name:
        return config
    number = 1
    while (config.run.folder / _numbered(config.run.name, number)).exists():
        number += 1
    run = config.run.model_copy(update={"name": _numbered(config.run.name, number)})
    return config.model_copy(update={"run": run})


def _numbered(name: str, number: int) -> str:
    return name.replace("{n}", "" if number == 1 else f"-{number}")
