"""Tests for the table `[embeddings]` of `holdfast.toml` and the messages about its mistakes."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from holdfast.configuration.embedding_settings import open_embedder, read_embeddings
from holdfast.models.errors import BadConfiguration
from holdfast.settings import Settings


def _file(tmp_path: Path, table: str) -> Path:
    path = tmp_path / "holdfast.toml"
    path.write_text(table)
    return path


def test_without_a_table_there_is_no_model(tmp_path: Path) -> None:
    assert read_embeddings(None) is None
    assert read_embeddings(_file(tmp_path, "[servers]\n")) is None


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", "embeddings.model: Field required; write for example model = "),
        ('model = "m"\nurl = "localhost"', "embeddings.url: .*write for example url = "),
        ('model = "m"\nbatch_size = 0', "embeddings.batch_size: .*batch_size = 64"),
        ('model = "m"\nkey_env = "sk-1 2"', "embeddings.key_env: .*key_env = "),
        ('model = "m"\napi_key = "sk-secret"', "embeddings.api_key is not a known key; known here"),
    ],
)
def test_a_mistake_is_named_with_what_to_write(tmp_path: Path, line: str, reason: str) -> None:
    with pytest.raises(BadConfiguration, match=reason) as refused:
        read_embeddings(_file(tmp_path, f"[embeddings]\n{line}\n"))

    assert "sk-" not in str(refused.value)


async def test_the_key_is_that_of_the_variable_that_the_table_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "the models' own")
    path = _file(tmp_path, '[embeddings]\nmodel = "m"\nkey_env = "OTHER_KEY"\n')
    settings = Settings(config_file=path)

    with pytest.raises(BadConfiguration, match="names the variable OTHER_KEY, which is not set"):
        async with open_embedder(settings):
            pass
    monkeypatch.setenv("OTHER_KEY", "of another endpoint")
    async with open_embedder(settings) as opened:
        assert opened is not None
        assert opened.client.api_key == "of another endpoint"  # type: ignore[attr-defined]
        assert opened.address == "https://api.openai.com/v1"


@pytest.mark.conformance("MOD-01")
@pytest.mark.parametrize(
    ("lines", "sent"),
    [
        ("", "key of the models"),
        ('url = "http://127.0.0.1:9/v1"', "none"),
        ('url = "http://127.0.0.1:9/v1"\nkey_env = "OPENAI_API_KEY"', "key of the models"),
    ],
    ids=["no url", "own url", "own url and variable"],
)
async def test_the_key_of_the_models_goes_to_no_other_endpoint_unasked(
    tmp_path: Path, lines: str, sent: str
) -> None:
    settings = Settings(
        config_file=_file(tmp_path, f'[embeddings]\nmodel = "m"\n{lines}\n'),
        openai_api_key=SecretStr("key of the models"),
    )

    async with open_embedder(settings) as opened:
        assert opened is not None
        assert opened.client.api_key == sent  # type: ignore[attr-defined]
