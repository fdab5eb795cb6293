"""Tests for the settings from environment variables and `holdfast.toml`."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from holdfast.models.errors import BadConfiguration
from holdfast.settings import load_settings, unknown_variables


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An environment that says nothing, in an empty folder."""
    import os

    for name in os.environ:
        if name.startswith(("HOLDFAST_", "OPENAI_", "TEMPORAL_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def test_nothing_has_to_be_set() -> None:
    settings = load_settings()

    assert settings.model == "extractive"
    assert settings.uses_embedded_database
    assert settings.uses_embedded_temporal
    assert not settings.has_model_endpoint


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_every_usual_scheme_of_a_database_url_ends_at_our_driver(
    monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    monkeypatch.setenv("HOLDFAST_DATABASE_URL", f"{scheme}://me:pw@db/x")

    settings = load_settings()

    assert settings.database_url == SecretStr("postgresql+psycopg://me:pw@db/x")
    assert not settings.uses_embedded_database


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("HOLDFAST_DATABASE_URL", "mysql://me:hunter2@db/x"),
        ("HOLDFAST_POOL_SIZE", "0"),
        ("HOLDFAST_MAX_CONCURRENT_TASKS", "many"),
        ("HOLDFAST_LOG_LEVEL", "loud"),
        ("HOLDFAST_CONFIG", "/nowhere/holdfast.toml"),
        ("OPENAI_BASE_URL", "example.org"),
    ],
)
def test_a_bad_value_is_refused_by_the_name_of_its_variable(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)

    with pytest.raises(BadConfiguration, match=variable) as refused:
        load_settings()

    assert "hunter2" not in str(refused.value)


def test_an_empty_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_DATABASE_URL", "")

    assert load_settings().uses_embedded_database


def test_secrets_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hunter2hunter2")
    monkeypatch.setenv("HOLDFAST_DATABASE_URL", "postgresql://me:hunter2@db/x")

    shown = repr(load_settings())

    assert "hunter2" not in shown


def test_a_config_file_in_the_folder_is_used(tmp_path: Path) -> None:
    (tmp_path / "holdfast.toml").touch()

    assert load_settings().config_file == tmp_path / "holdfast.toml"


def test_an_address_of_temporal_means_that_none_is_embedded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", "temporal.example:7233")

    assert not load_settings().uses_embedded_temporal


def test_a_default_profile_means_that_no_temporal_is_embedded(tmp_path: Path) -> None:
    import platformdirs

    file = platformdirs.user_config_path("temporalio") / "temporal.toml"
    file.parent.mkdir(parents=True)
    file.write_text('[profile.default]\naddress = "temporal.example:7233"\n')

    assert not load_settings().uses_embedded_temporal


def test_a_profile_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEMPORAL_PROFILE", "cloud")

    with pytest.raises(BadConfiguration, match="cloud"):
        _ = load_settings().uses_embedded_temporal


def test_a_misspelled_variable_is_named_with_the_nearest_setting() -> None:
    sentences = unknown_variables({"HOLDFAST_HOEM": "1", "HOLDFAST_CONFIG": "x", "HOME": "/"})

    assert sentences == ["HOLDFAST_HOEM is not a setting of Holdfast; did you mean HOLDFAST_HOME?"]
