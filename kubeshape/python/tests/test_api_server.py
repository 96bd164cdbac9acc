"""The fixture `api_server` with clients that people use."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from kubeshape.testing import ApiServer, World

WIDGET: dict[str, Any] = {
    "apiVersion": "example.com/v1",
    "kind": "Widget",
    "metadata": {"name": "hello", "namespace": "default"},
    "spec": {"size": 1, "note": "a"},
}


def test_kubernetes_client(api_server: ApiServer) -> None:
    kubernetes = pytest.importorskip("kubernetes")
    client = kubernetes.config.new_client_from_config(str(api_server.kubeconfig))
    core = kubernetes.client.CoreV1Api(client)
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}}
    core.create_namespaced_config_map("default", config)
    assert [item.metadata.name for item in core.list_namespaced_config_map("default").items] == ["a"]
    custom = kubernetes.client.CustomObjectsApi(client)
    place = ("example.com", "v1", "default", "widgets")
    assert custom.create_namespaced_custom_object(*place, WIDGET)["metadata"]["uid"]
    with pytest.raises(kubernetes.client.ApiException) as raised:
        wrong = {**WIDGET, "metadata": {"name": "wrong"}, "spec": {"size": 1, "note": 7}}
        custom.create_namespaced_custom_object(*place, wrong)
    assert raised.value.status == 422
    seen = []
    for event in kubernetes.watch.Watch().stream(
        core.list_namespaced_config_map, "default", timeout_seconds=5
    ):
        seen.append((event["type"], event["object"].metadata.name))
        break
    assert seen == [("ADDED", "a")]
    dynamic = kubernetes.dynamic.DynamicClient(client)
    widgets = dynamic.resources.get(api_version="example.com/v1", kind="Widget")
    applied = widgets.server_side_apply(body=WIDGET, field_manager="test", force_conflicts=True)
    assert "test" in [entry.manager for entry in applied.metadata.managedFields]


def test_kr8s(api_server: ApiServer) -> None:
    kr8s = pytest.importorskip("kr8s")
    api = kr8s.api(kubeconfig=str(api_server.kubeconfig))
    config = kr8s.objects.ConfigMap(
        {"metadata": {"name": "a", "namespace": "default"}, "data": {"k": "v"}}, api=api
    )
    config.create()
    assert [item.name for item in api.get("configmaps", namespace="default")] == ["a"]
    config.patch({"data": {"k": "w"}})
    config.refresh()
    assert config.raw["data"] == {"k": "w"}
    Widget = kr8s.objects.new_class(kind="Widget", version="example.com/v1", namespaced=True)
    Widget(WIDGET, api=api).create()
    assert [item.name for item in api.get("widgets.example.com", namespace="default")] == ["hello"]
    config.delete()
    assert not config.exists()


def test_lightkube(api_server: ApiServer) -> None:
    lightkube = pytest.importorskip("lightkube")
    from lightkube.generic_resource import create_namespaced_resource
    from lightkube.models.meta_v1 import ObjectMeta
    from lightkube.resources.core_v1 import ConfigMap

    config = lightkube.KubeConfig.from_file(str(api_server.kubeconfig))
    client = lightkube.Client(config=config, field_manager="test")
    client.apply(ConfigMap(metadata=ObjectMeta(name="a", namespace="default"), data={"k": "v"}))
    assert [item.metadata.name for item in client.list(ConfigMap, namespace="default")] == ["a"]
    Widget = create_namespaced_resource("example.com", "v1", "Widget", "widgets")
    client.create(Widget(metadata=ObjectMeta(name="hello", namespace="default"), spec=WIDGET["spec"]))
    assert client.get(Widget, "hello", namespace="default").spec["size"] == 1


def test_each_test_has_its_own_server(api_server: ApiServer) -> None:
    kubernetes = pytest.importorskip("kubernetes")
    client = kubernetes.config.new_client_from_config(str(api_server.kubeconfig))
    assert kubernetes.client.CoreV1Api(client).list_namespaced_config_map("default").items == []


def test_a_server_that_does_not_serve_everything_is_an_error(tmp_path: Path, demo: Path) -> None:
    (tmp_path / "broken.yaml").write_text("kind: [")
    with pytest.raises(RuntimeError, match="broken.yaml:1"):
        ApiServer([tmp_path / "broken.yaml", demo / "widgets.yaml"])
    with pytest.raises(RuntimeError, match="unexpected argument '--frobnicate'"):
        ApiServer(arguments=["--frobnicate"])


def test_nothing_is_left_behind() -> None:
    with ApiServer() as server:
        folder = server.kubeconfig.parent
        assert server.log() == ""
    assert not folder.exists()
    server.stop()


def test_the_fixture_needs_no_import(tmp_path: Path, demo: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        f"import pytest\n@pytest.fixture\ndef api_server_schemas():\n    return [{str(demo / 'widgets.yaml')!r}]\n"
    )
    (tmp_path / "test_it.py").write_text(
        "import urllib.request\n"
        "def test_it(api_server):\n"
        "    with urllib.request.urlopen(api_server.url + '/apis/example.com/v1') as answer:\n"
        "        assert b'widgets' in answer.read()\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert "1 passed" in ran.stdout, ran.stdout + ran.stderr


def test_snapshots_and_the_clock() -> None:
    kubernetes = pytest.importorskip("kubernetes")
    with ApiServer(manual_clock=True) as server:
        core = kubernetes.client.CoreV1Api(kubernetes.config.new_client_from_config(str(server.kubeconfig)))
        before = server.now()
        state = server.snapshot()
        server.advance(90)
        assert (server.now() - before).total_seconds() == 90
        made = core.create_namespaced_config_map("default", {"metadata": {"name": "a"}})
        assert made.metadata.creation_timestamp == server.now()
        server.restore(state)
        assert core.list_namespaced_config_map("default").items == []
        with pytest.raises(RuntimeError, match="there is no snapshot 9"):
            server.restore(9)
    with ApiServer() as server, pytest.raises(RuntimeError, match="--clock manual"):
        server.advance(1)


def names(of: ApiServer | World) -> list[str]:
    with urllib.request.urlopen(of.url + "/api/v1/namespaces/default/configmaps") as answer:
        return [item["metadata"]["name"] for item in json.load(answer)["items"]]


def create(of: ApiServer | World, name: str) -> None:
    body = json.dumps({"metadata": {"name": name}}).encode()
    target = of.url + "/api/v1/namespaces/default/configmaps"
    headers = {"Content-Type": "application/json"}
    urllib.request.urlopen(urllib.request.Request(target, data=body, headers=headers)).close()


def test_worlds_are_independent() -> None:
    with ApiServer(manual_clock=True) as server:
        create(server, "prepared")
        state = server.snapshot()
        with server.world(state) as one, server.world() as other:
            create(one, "a")
            one.advance(90)
            assert (names(server), names(one), names(other)) == (["prepared"], ["a", "prepared"], [])
            assert (one.now() - server.now()).total_seconds() == 90
            own = one.snapshot()
            one.restore(0)
            assert names(one) == ["prepared"]
            with pytest.raises(RuntimeError, match=f"there is no snapshot {own}"):
                other.restore(own)
            kubeconfig = one.kubeconfig
            assert one.url in kubeconfig.read_text()
        assert not kubeconfig.exists()
        with pytest.raises(urllib.error.URLError):
            names(one)
        one.stop()
        with pytest.raises(RuntimeError, match="there is no snapshot 99"):
            server.world(99)


def test_many_cases_at_the_same_time() -> None:
    with ApiServer() as server, ThreadPoolExecutor(16) as threads:

        def case(number: int) -> list[str]:
            with server.world() as world:
                create(world, f"c{number}")
                return names(world)

        assert list(threads.map(case, range(64))) == [[f"c{number}"] for number in range(64)]
        assert names(server) == []


def test_the_fixture_of_worlds(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import urllib.request\n"
        "urls = set()\n"
        "def check(api_world):\n"
        "    assert api_world.url not in urls\n"
        "    urls.add(api_world.url)\n"
        "    urllib.request.urlopen(api_world.url + '/api/v1').close()\n"
        "def test_one(api_world):\n    check(api_world)\n"
        "def test_other(api_world):\n    check(api_world)\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert "2 passed" in ran.stdout, ran.stdout + ran.stderr
