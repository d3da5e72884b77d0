#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every published number of a folder of extracts stands in a shipped reference, at its
place, and no shipped number comes from elsewhere.
usage: references_shared.py [FOLDER]   (default: $FULCRUM_SHARED/references, or the
folder beside the source tree); 77: there is no such folder

The extracts are the tables as they were read, in the units of their sources: columns
of y over one x. The tables below say where each column went and in which unit; they
were written beside the sources, not made from the shipped files. A number that was
found is struck out, so that none counts twice and what is left at the end is a number
without origin.
"""
import fnmatch
import glob
import json
import os
import sys

ROW = object()  # the number of the row, from 1

# Patterns of the extract's and the column's name, the series ("*": called as the
# column), the setting that x became, the quantity ("set:PATH" for a setting), the scale;
# where needed the reference's name, scale of x, offset and a further setting.
COLUMNS = [
    ("envpool_atari_*", "*", "*", "workers", "steps_per_s", 1 / 4),
    ("envpool_mujoco_*", "*", "*", "workers", "steps_per_s", 1 / 5),
    ("sf_fig3_10_core_*", "*", "*", "run.env_count", "steps_per_s", 1 / 4),
    ("sf_pure_simulation", "*", "*", "method", "steps_per_s", 1 / 4),
    ("sf_profile_isaacgym_ant", "FPS", "", "version", "steps_per_s", 1),
    ("sf_profile_isaacgym_ant", "main_loop", "", "version", "runtime_s", 1),
    ("sf_profile_isaacgym_ant", "env_step", "", "version", "simulation_s", 1),
    ("sf_profile_isaacgym_ant", "inference", "", "version", "inference_s", 1),
    ("sf_profile_isaacgym_ant", "train", "", "version", "training_s", 1),
    ("sf_profile_vizdoom_workers", "FPS*", "", "workers", "steps_per_s", 1 / 4),
    ("sf_profile_vizdoom_workers", "env_step*", "", "workers", "simulation_s", 1),
    ("sf_profile_vizdoom_workers", "wall*", "", "workers", "runtime_s", 1),
    ("sf_profile_vizdoom_workers", "frames*", "", "workers", "frame_count", 1),
    ("inci2020_fig2_text", "*", "", "component", "gpu_time_frac", 0.01),
    ("inci2020_fig3_text", "relative speed*", "", "run.actor_count", "speedup", 1),
    ("inci2020_fig3_text", "GPU power*", "", "run.actor_count", "gpu_w", 1, {"reference": "inci2020-fig3-power-text"}),
    ("inci2020_fig4_text", "slowdown*", "", "run.sm_count", "runtime_rel", 0.01, {"offset": 1}),
    ("njit_mig_sm_scaling", "GEMM*", "*", "run.sm_count", "flop_per_s", 1e12),
    ("njit_mig_sm_scaling", "LLM*", "*", "run.sm_count", "tokens_per_s", 1),
    ("njit_mig_sm_scaling", "GROMACS", "*", "run.sm_count", "simulated_ns_per_day", 1),
    ("gmidrl_table5_multinode", "*", "*", "node_count", "speedup_over_one_node", 1),
    ("pal2019_abstract", "*", "", "network", "least_gain_frac", 0.01),
    ("power_mlenergy_*", "avg_power", "", "max_num_seqs", "gpu_w", 1),
    ("power_mlenergy_*", "throughput", "", "max_num_seqs", "tokens_per_s", 1),
    ("power_nvidia_smi_a100_h100", "power", "", "gpu", "gpu_w", 1, {"also": ("reading", ROW)}),
    ("power_nvidia_smi_a100_h100", "util", "", "gpu", "set:gpu_util_frac", 0.01, {"also": ("reading", ROW)}),
    ("power_nvidia_smi_v100", "power", "", "gpu_util_frac", "gpu_w", 1, {"x_scale": 0.01, "also": ("reading", ROW)}),
    ("power_nvidia_smi_v100", "memory*", "", "gpu_util_frac", "set:memory_used_byte", 2**20, {"x_scale": 0.01, "also": ("reading", ROW)}),
    ("power_specpower_servers", "*100%", "", "cpu", "server_w", 1, {"also": ("load_frac", 1)}),
    ("power_specpower_servers", "*idle", "", "cpu", "server_w", 1, {"also": ("load_frac", 0)}),
    ("power_specpower_servers", "n results", "", "cpu", "set:result_count", 1, {"also": ("load_frac", 0)}),
    ("power_specpower_servers", "n results", "", "cpu", "set:result_count", 1, {"also": ("load_frac", 1)}),
    ("power_teads_ec2", "*CPU pkg*", "*", "load_frac", "cpu_w", 1, {"x_scale": 0.01}),
    ("power_teads_ec2", "*instance", "*", "load_frac", "server_w", 1, {"x_scale": 0.01}),
    ("power_teads_ec2", "*per GPU*", "*", "load_frac", "gpu_w", 1, {"reference": "power-teads-ec2-gpu", "x_scale": 0.01}),
    ("rlscope_fig5_stage_shares", "backprop*", "", "algorithm", "training_frac", 0.01),
    ("rlscope_fig5_stage_shares", "inference", "", "algorithm", "inference_frac", 0.01),
    ("rlscope_fig5_stage_shares", "simulation", "", "algorithm", "simulation_frac", 0.01),
    ("rlscope_fig5_stage_shares", "training time", "", "algorithm", "runtime_s", 1),
    ("rlscope_fig7_stage_shares", "backprop*", "", "simulator", "training_frac", 0.01),
    ("rlscope_fig7_stage_shares", "inference", "", "simulator", "inference_frac", 0.01),
    ("rlscope_fig7_stage_shares", "simulation", "", "simulator", "simulation_frac", 0.01),
    ("rlscope_fig8_minigo", "total time", "", "process", "runtime_s", 1),
    ("rlscope_fig8_minigo", "GPU time", "", "process", "gpu_busy_s", 1),
    ("rlscope_fig11a_overhead_bias", "bias*", "", "algorithm", "time_bias_frac", 0.01),
    ("rlscope_fig11b_overhead_bias", "bias*", "", "simulator", "time_bias_frac", 0.01),
]

# Extracts whose rows are quantities of their own: x names them.
ROWS = [
    ("copa_gpun", "SMs", "GPU-N", "sm_count", 1),
    ("copa_gpun", "clock GHz", "GPU-N", "clock_hz", 1e9),
    ("copa_gpun", "FP32 TFLOPS", "GPU-N", "fp32_flop_per_s", 1e12),
    ("copa_gpun", "FP16 TFLOPS", "GPU-N", "fp16_flop_per_s", 1e12),
    ("copa_gpun", "L2 MB", "GPU-N", "llc_byte", 1e6),
    ("copa_gpun", "DRAM GB/s", "GPU-N", "dram_byte_per_s", 1e9),
    ("copa_gpun", "DRAM GB", "GPU-N", "memory_byte", 1e9),
    ("copa_gpun", "max DRAM TB/s (COPA)", "COPA", "most_dram_byte_per_s", 1e12),
    ("copa_gpun", "max DRAM GB (COPA)", "COPA", "most_memory_byte", 1e9),
    ("copa_gpun", "max on-package L3 MB", "COPA", "most_package_cache_byte", 1e6),
    ("copa_gpun", "train gain %", "COPA for learning", "training_gain_frac", 0.01),
    ("copa_gpun", "infer gain %", "COPA for learning", "inference_gain_frac", 0.01),
    ("copa_gpun", "GPU reduction %", "COPA for learning", "fewer_gpus_frac", 0.01),
    ("power_h100_node", "max observed node power kW", "", "most_node_w", 1e3),
    ("power_h100_node", "manufacturer rating kW", "", "rated_w", 1e3),
    ("power_h100_node", "share of TDP for intensive workloads", "", "tdp_frac", 1),
    ("power_h100_node", "ResNet batch 512->4096 energy ratio", "", "energy_batch_512_over_4096", 1),
    ("power_h100_node", "model MAPE %", "", "power_model_mape_frac", 0.01),
    ("gmidrl_scalars", "T_s/T_a", "", "t_s_over_t_a", 1),
    ("gmidrl_scalars", "T_s/T_t", "", "t_s_over_t_t", 1),
    ("gmidrl_scalars", "R_s/R_a", "", "r_s_over_r_a", 1),
    ("gmidrl_scalars", "R_s/R_t", "", "r_s_over_r_t", 1),
    ("gmidrl_scalars", "alpha", "", "alpha", 1),
    ("gmidrl_scalars", "beta", "", "beta", 1),
    ("gmidrl_scalars", "serving speedup max", "", "serving_speedup_most", 1),
    ("gmidrl_scalars", "serving speedup avg", "", "serving_speedup_mean", 1),
    ("gmidrl_scalars", "sync train vs NCCL max", "", "training_over_nccl_most", 1),
    ("gmidrl_scalars", "sync vs NCCL avg", "", "training_over_nccl_mean", 1),
    ("gmidrl_scalars", "vs Horovod max", "", "training_over_horovod_most", 1),
    ("gmidrl_scalars", "vs Horovod avg", "", "training_over_horovod_mean", 1),
    ("gmidrl_scalars", "GPU util gain max % (train)", "", "training_gpu_util_gain_most_frac", 0.01),
    ("gmidrl_scalars", "GPU util gain avg % (train)", "", "training_gpu_util_gain_mean_frac", 0.01),
    ("gmidrl_scalars", "GPU util gain max % (serving)", "", "serving_gpu_util_gain_most_frac", 0.01),
    ("gmidrl_scalars", "GPU util gain avg % (serving)", "", "serving_gpu_util_gain_mean_frac", 0.01),
    ("gmidrl_scalars", "async PPS avg x", "", "async_pps_gain_mean", 1),
    ("gmidrl_scalars", "async TTOP avg x", "", "async_ttop_gain_mean", 1),
    ("gmidrl_scalars", "per-GMI kernel launch overhead %", "", "kernel_launch_overhead_frac", 0.01),
    ("gmidrl_scalars", "inter-GMI communication overhead %", "", "communication_overhead_frac", 0.01),
    ("gmidrl_scalars", "GMI creation s", "", "instance_creation_s", 1),
    ("gmidrl_scalars", "multi-node efficiency avg % of linear", "", "multi_node_efficiency_mean_frac", 0.01),
    ("gmidrl_scalars", "throughput peak batch (Anymal) envs", "", "peak_env_count", 1),
]

# The first is printed as a factor in the text; the extract has its product with
# another. The others were read from tables that the folder has no extract of.
WITHOUT_EXTRACT = {
    "inci2020-fig3-further-text",
    "sf-fig3-36-core-atari",
    "sf-fig3-36-core-vizdoom",
    "sf-fig3-36-core-dmlab",
    "gnmt-dgx2-scaling",
    "mccandlish2018-table1",
}

faults = []


def is_close(actual, expected):
    """Rounding of a decimal number that is scaled once here and once by its reader."""
    return (isinstance(actual, (int, float))
            and abs(actual - expected) <= 1e-12 * abs(expected))


def load_shipped():
    shipped = {}
    for path in glob.glob("presets/references/*.json"):
        with open(path, encoding="utf-8") as file:
            reference = json.load(file)
        shipped[reference["name"]] = reference
        for point in reference["points"]:
            observed = {key: entry["value"] for key, entry in point["observed"].items()}
            if "frames_per_s" in observed:
                frames = observed.pop("frames_per_s")
                observed["steps_per_s"] = frames / (reference.get("frame_skip") or 1)
            point["observed"] = observed
    return shipped


def matches(given, wanted):
    return given == wanted if isinstance(wanted, str) else is_close(given, wanted)


def take_observation(point, quantity, expected, cell):
    if not is_close(point["observed"].get(quantity), expected):
        faults.append(f"{cell}: is missing or another number")
    else:
        del point["observed"][quantity]


def take_by_column(shipped, column, extract, y, row, x, value):
    series, x_path, place, scale = column[2:6]
    extra = column[6] if len(column) > 6 else {}
    also, also_value = extra.get("also", (None, None))
    name = extra.get("reference", extract.replace("_", "-"))
    wanted = x if isinstance(x, str) else extra.get("x_scale", 1) * x
    found = []
    for point in shipped.get(name, {"points": []})["points"]:
        given = point["set"]
        if (point.get("series", "") == (y if series == "*" else series)
                and x_path in given and matches(given[x_path], wanted)
                and (also is None or given.get(also) ==
                     (row + 1 if also_value is ROW else also_value))):
            found.append(point)
    cell = f"{extract}, {y}, {x}: {value}"
    if len(found) != 1:
        faults.append(f"{cell}: has no point, or several")
        return
    expected = extra.get("offset", 0) + scale * value
    if not place.startswith("set:"):
        take_observation(found[0], place, expected, cell)
    elif not is_close(found[0]["set"].get(place[4:]), expected):
        faults.append(f"{cell}: is missing or another setting")


def take_by_row(shipped, row, extract, x, value):
    _, _, series, quantity, scale = row
    cell = f"{extract}, {x}: {value}"
    for point in shipped.get(extract.replace("_", "-"), {"points": []})["points"]:
        if point.get("series", "") == series:
            take_observation(point, quantity, scale * value, cell)
            return
    faults.append(f"{cell}: has no point")


def take(shipped, extract, y, row, x, value):
    places = 0
    for column in COLUMNS:
        if fnmatch.fnmatchcase(extract, column[0]) and fnmatch.fnmatchcase(y, column[1]):
            take_by_column(shipped, column, extract, y, row, x, value)
            places += 1
    for entry in ROWS:
        if entry[0] == extract and entry[1] == x:
            take_by_row(shipped, entry, extract, x, value)
            places += 1
    if places == 0:
        faults.append(f"{extract}, {y}, {x}: {value} was taken over nowhere")


def take_extract(shipped, path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    count = 0
    xs = document["x"]["values"]
    for column in document["y"]:
        if len(column["values"]) != len(xs):
            faults.append(f"{path}: {column['name']} is not as long as x")
        for row, (x, value) in enumerate(zip(xs, column["values"])):
            if value is not None:
                name = os.path.basename(path)[:-5]
                take(shipped, name, column["name"], row, x, value)
                count += 1
    if count == 0:
        faults.append(f"{path} has no numbers")
    return count


def take_decoding(shipped, path):
    """Rows that are records: a point of its series each, but for series of two."""
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)["rows"]
    keys = ("task", "model", "gpu", "num_gpus", "tp", "ep", "precision")
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    count = 0
    for group in groups.values():
        for row in group if len(group) > 2 else []:
            name = "mlenergy-decoding-" + row["gpu"].lower()
            wanted = (float(f"{row['avg_batch_size']:g}"), float(f"{row['out_tok_s']:g}"))
            watts = round(row["avg_power_w"] / row["num_gpus"], 2)
            found = [point for point in shipped.get(name, {"points": []})["points"]
                     if (point["set"]["in_flight"],
                         point["observed"].get("tokens_per_s")) == wanted
                     and abs(point["observed"]["watts_per_gpu"] - watts) < 0.02]
            if not found:
                faults.append(f"{name}: no point of {wanted}")
                continue
            found[0]["observed"].clear()
            count += 2
    return count


def strike(shipped, name, settings, observed):
    """The numbers that the point with these settings has observed."""
    for point in shipped.get(name, {"points": []})["points"]:
        if (all(point["set"].get(path) == value for path, value in settings.items())
                and point["observed"] == observed):
            point["observed"].clear()
            return len(observed)
    faults.append(f"{name}: no point with {settings} has {observed}")
    return 0


def take_training(shipped, folder):
    """Seconds of training steps: of verl those of the 7B model but for the rows that
    differ in the trainer's batches, of NeMo-RL BF16 rows on H100 of each model's newest
    table."""
    count = 0
    with open(os.path.join(folder, "verl_async.json"), encoding="utf-8") as file:
        for row in [row for row in json.load(file)["rows"] if row["exp"] == "7B"]:
            is_apart = bool(row.get("split"))
            busy = row["update_actor"] + row.get("old_log_prob", 0)
            settings = {"run.node_count": row["gpus"] // 8,
                        "run.learner_gpu_count": 4 if is_apart else 0,
                        "workload.agent.coupling": "stream" if is_apart else "in-turns"}
            count += strike(shipped, "verl-fully-async-7b", settings, {
                "train_period_s": row["step"],
                "gpu_train_busy_frac": round(busy / row["step"], 4)})
    models = {"Qwen3-30B-A3B": "qwen3-30b-a3b", "Qwen3-235B": "qwen3-235b-a22b",
              "DeepSeek V3": "deepseek-v3"}
    older = {"LLAMA3.1_8B": "llama-3.1-8b", "Qwen3-32B": "qwen3-32b"}
    with open(os.path.join(folder, "nemo_rl_perf.json"), encoding="utf-8") as file:
        for row in json.load(file)["rows"]:
            is_old = row.get("version") == "v0.4"
            model = (older if is_old else models).get(row["model"])
            if model is None or row.get("precision", "BF16") != "BF16":
                continue
            coupling = "in-turns" if row["policy"] == "on" else "stream"
            settings = {"workload.agent.coupling": coupling}
            if row.get("gen_tp"):
                settings["workload.agent.instance_gpu_count"] = row["gen_tp"]
            if row["policy"] != "8-off":
                settings["run.node_count"] = row["gpus"] // 8
            count += strike(shipped, "nemo-rl-" + model, settings,
                            {"train_period_s": row["step_s"]})
    return count


def check_rest(reference):
    """What this program measured itself was published nowhere, and says so."""
    points = reference["source"].get("points", "")
    if (reference["name"] in WITHOUT_EXTRACT
            or points.startswith("measured by `fulcrum measure`")):
        return
    for i, point in enumerate(reference["points"]):
        for quantity, value in point["observed"].items():
            faults.append(
                f"{reference['name']}, point {i}: {quantity} = {value} has no origin")


def main():
    standard = os.path.join(os.environ.get("FULCRUM_SHARED") or "../shared", "references")
    folder = sys.argv[1] if len(sys.argv) > 1 else standard
    if not os.path.isdir(folder):
        print(f"{folder} is absent: nothing to compare with")
        return 77
    shipped = load_shipped()
    # systems.json describes machines: it has no points.
    count = sum(take_extract(shipped, path)
                for path in sorted(glob.glob(os.path.join(folder, "*.json")))
                if os.path.basename(path) != "systems.json")
    decoding = os.path.join(folder, "agentic", "ml_energy_v3_llm.json")
    if os.path.exists(decoding):
        count += take_decoding(shipped, decoding)
        count += take_training(shipped, os.path.dirname(decoding))
    for reference in shipped.values():
        check_rest(reference)
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{count} published numbers")
    return 1 if faults or count == 0 else 0


sys.exit(main())
