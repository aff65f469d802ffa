"""Tests of the files that start a cluster: Ray's own parsers take them, and `ray start` has the options they use."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FILES = ROOT / "examples" / "cluster"
WITH_COMMANDS = [*FILES.glob("*.sh"), *FILES.glob("*.yaml"), ROOT / "docs" / "cluster.md"]


def kuberay():
    return {each["kind"]: each for each in yaml.safe_load_all((FILES / "kuberay.yaml").read_text())}


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash")
@pytest.mark.parametrize("path", sorted(FILES.glob("*.sh")), ids=lambda path: path.name)
def test_bash_parses_the_scripts(path):
    assert subprocess.run(["bash", "-n", path], capture_output=True).stderr == b""


def test_no_cluster_is_without_a_token_or_with_statistics():
    for name in ("slurm.sh", "two_hosts.sh", "aws.yaml"):
        text = (FILES / name).read_text()
        assert "RAY_AUTH_MODE=token" in text and "RAY_USAGE_STATS_ENABLED=0" in text, name
    assert kuberay()["RayCluster"]["spec"]["authOptions"] == {"mode": "token"}
    assert "RAY_USAGE_STATS_ENABLED=0" in (FILES / "Dockerfile").read_text()


def test_the_policy_closes_the_pods_of_the_cluster():
    found = kuberay()
    policy = found["NetworkPolicy"]["spec"]
    assert policy["podSelector"]["matchLabels"] == {"ray.io/cluster": found["RayCluster"]["metadata"]["name"]}
    assert policy["policyTypes"] == ["Ingress"] and all(each["from"] for each in policy["ingress"])
    claim = found["RayCluster"]["spec"]["headGroupSpec"]["template"]["spec"]["volumes"][0]["persistentVolumeClaim"]
    assert claim["claimName"] == found["PersistentVolumeClaim"]["metadata"]["name"]


@pytest.mark.cluster
def test_ray_takes_the_file_of_a_cloud():
    from ray.autoscaler._private.util import prepare_config, validate_config

    config = prepare_config(yaml.safe_load((FILES / "aws.yaml").read_text()))
    validate_config(config)
    nodes = config["available_node_types"]
    assert nodes["head"]["resources"] == {"CPU": 0} and nodes["player"]["max_workers"] == 20
    with pytest.raises(Exception, match="Additional properties are not allowed"):
        validate_config({**config, "max_worker": 3})


@pytest.mark.cluster
def test_ray_s_autoscaler_takes_the_file_of_kubernetes():
    from ray.autoscaler._private.kuberay.autoscaling_config import _derive_autoscaling_config_from_ray_cr

    cluster = kuberay()["RayCluster"]
    cluster["metadata"]["namespace"] = "default"
    nodes = _derive_autoscaling_config_from_ray_cr(cluster)["available_node_types"]
    assert nodes["headgroup"]["resources"]["CPU"] == 0
    assert nodes["players"]["resources"]["CPU"] == 15 and nodes["players"]["max_workers"] == 20


@pytest.mark.cluster
def test_ray_start_has_the_options():
    from ray.scripts.scripts import cli

    own = [cli.commands[name] for name in ("start", "health-check", "get-auth-token")]
    known = {name for command in own for each in command.params for name in (*each.opts, *each.secondary_opts)}
    text = "\n".join(path.read_text() for path in WITH_COMMANDS).replace("\\\n", " ")
    called = r"ray (?:start|health-check|get-auth-token)|ports=\("
    commands = re.findall(rf"(?:{called})([^\n&>#)]*(?:\n    --[^\n]*)*)", text)
    used = set(re.findall(r"(--[a-z-]+)", " ".join(commands)))
    assert len(commands) >= 8 and {"--head", "--num-cpus", "--object-store-memory", "--generate"} <= used
    assert used <= known
    groups = kuberay()["RayCluster"]["spec"]
    for group in (groups["headGroupSpec"], *groups["workerGroupSpecs"]):
        assert {f"--{name}" for name in group["rayStartParams"]} <= known
