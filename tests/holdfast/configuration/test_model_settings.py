"""Tests for the models and the roles in `holdfast.toml`: what is read, what is refused, whose key
goes where."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from holdfast.configuration.configuration_check import check_configuration
from holdfast.configuration.known_models import known_models
from holdfast.configuration.known_secrets import known_secrets
from holdfast.configuration.model_settings import read_models
from holdfast.configuration.price_settings import read_prices
from holdfast.configuration.role_settings import read_role_tables
from holdfast.jobs.model_checks import with_role_models
from holdfast.models.budget.token_prices import Price
from holdfast.models.errors import BadConfiguration, BadInput
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.planning.strategies.strategy_presets import with_settings
from holdfast.settings import Settings

TWO = """
[models.big]
id = "maker/big-5"
url = "https://big.example/v1"
key_env = "BIG_KEY"
temperature = 0.2
reasoning_effort = "low"
max_output_tokens = 4000
extra_body = { top_k = 20 }
context_tokens = 64000
price = { input = 1.25, output = 10, cached = 0.125 }

[models.small]
url = "http://127.0.0.1:8000/v1"

[models.plain]
temperature = 0

[roles]
planner = "big"
extractor = "small"

[presets.vmao.roles]
planner = "small"
verifier = "big"
"""


def settings_with(folder: Path, text: str, key: str | None = None) -> Settings:
    path = folder / "holdfast.toml"
    path.write_text(text)
    secret = SecretStr(key) if key else None
    return Settings(home=folder, config_file=path, openai_api_key=secret)


def test_a_table_says_everything_about_a_model(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, TWO)

    models = read_models(settings.config_file)
    prices = read_prices(settings.config_file)

    assert list(models) == ["big", "small", "plain"]
    assert (models["big"].id, models["big"].temperature) == ("maker/big-5", 0.2)
    assert dict(models["big"].extra_body) == {"top_k": 20}
    assert models["small"].id is None
    assert prices.of("big") == Price(input="1.25", output="10", cached="0.125")
    assert prices.of("small") is None


def test_a_key_goes_only_to_the_endpoint_that_it_belongs_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIG_KEY", "big-secret")
    settings = settings_with(tmp_path, TWO, key="openai-secret")
    known = known_models(settings)

    keys = {name: known.key(config) for name, config in known.configured.items()}

    assert keys == {
        "big": SecretStr("big-secret"),
        "small": None,
        "plain": SecretStr("openai-secret"),
    }
    secrets = known_secrets(settings, "postgresql://localhost/x", {})
    assert {"big-secret", "openai-secret"} <= secrets


def test_a_model_without_its_key_or_endpoint_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BIG_KEY", raising=False)
    settings = settings_with(tmp_path, TWO)
    known = known_models(settings)

    assert known.fault("extractive") == known.fault("small") == ""
    assert "set the variable BIG_KEY" in known.fault("big")
    assert "`url` in [models.plain]" in known.fault("plain")
    assert "write [models.unheard]" in known.fault("unheard")
    with pytest.raises(BadInput, match="BIG_KEY"):
        known.check(["small", "big"])
    with pytest.raises(BadConfiguration, match="a role's model 'big' needs its key"):
        check_configuration(settings)


@pytest.mark.conformance("MOD-02")
def test_a_jobs_roles_win_over_those_of_the_preset_and_of_the_installation(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, TWO)
    own = with_settings(Strategy(), {"role_models": "extractor=other"})

    everywhere = with_role_models(Strategy(), "research", settings)
    in_preset = with_role_models(Strategy(), "vmao", settings)
    in_job = with_role_models(own, "vmao", settings)

    assert dict(everywhere.role_models) == {"planner": "big", "extractor": "small"}
    assert dict(in_preset.role_models) == {
        "planner": "small",
        "extractor": "small",
        "verifier": "big",
    }
    assert in_job.model_of_role("extractor", "usual") == "other"
    assert in_job.model_of_role("planner", "usual") == "small"
    assert in_job.model_of_role("synthesiser", "usual") == "usual"


def test_the_verifiers_model_judges_whatever_the_roles_say() -> None:
    strategy = Strategy(verifier_model="judge", role_models={"verifier": "big", "planner": "big"})

    judges = ("verifier", "sentence_checker", "answer_judge")

    assert {strategy.model_of_role(role, "usual") for role in judges} == {"judge"}
    assert strategy.model_of_role("planner", "usual") == "big"
    assert strategy.named_models() == {"judge", "big"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("models = 3", r"'models' must be tables; write \[models.NAME\]"),
        ("[models]\nbig = 3", r'models.big must be a table; write \[models."big"\]'),
        ("[models.gpt-4.1]\nid = 'x'", "put a name with dots in quotes"),
        ("[models.extractive]\nid = 'x'", "is the built-in model"),
        ("[models.'a b']\nid = 'x'", "has no white space"),
        ("[models.m]\ntop_q = 1", "top_q is not a known key; did you mean 'top_p'"),
        ("[models.m]\ntemperature = 3", "models.m.temperature: .*write for example temperature"),
        ("[models.m]\nurl = 'localhost'", "models.m.url: .*write for example url = "),
        ("[models.m]\nkey_env = 'sk-a-key'", "models.m.key_env: .*the name of a variable, never"),
        ("[models.m]\nextra_body = { model = 'x' }", "'model' is set by Holdfast itself"),
        ("[models.m]\nprice = { input = 1 }", "models.m.price.output: .*write for example price"),
        ("[models.m]\ncontext_tokens = 3", "models.m.context_tokens: "),
        ("roles = 3", r"roles must be a table; write \[roles\]"),
        ("[roles]\nplaner = 'm'", "there is no role 'planer'; did you mean 'planner'"),
        ("[roles]\nplanner = 3", "roles.planner must be the name of a model"),
        ("[roles]\nplanner = 'a b'", "roles.planner must be the name of a model"),
        ("[presets.vmaoo.roles]\nplanner = 'm'", "there is no preset 'vmaoo'; presets: "),
        ("[presets.vmao]\nslots = 3", "presets.vmao.slots is not a known key; known here: roles"),
        ("[presets.vmao.roles]\nplaner = 'm'", "there is no role 'planer'"),
        (
            "[prices.m]\ninput = 1\noutput = 1\n[models.m]\nprice = {input = 1, output = 1}",
            r"the model 'm' has a price in \[prices\] and in \[models.m\]; keep one",
        ),
        ("[model.m]\nid = 'x'", r"unknown table 'model'; write \[models\]"),
    ],
)
def test_a_mistake_is_refused_with_its_place_and_the_way_out(
    tmp_path: Path, text: str, says: str
) -> None:
    settings = settings_with(tmp_path, text)

    with pytest.raises(BadConfiguration, match=says) as refused:
        check_configuration(settings)

    assert str(settings.config_file) in str(refused.value)


def test_without_a_file_there_are_no_models_and_no_roles(tmp_path: Path) -> None:
    for path in (None, tmp_path / "no.toml"):
        assert read_models(path) == {}
        assert not read_role_tables(path).models
