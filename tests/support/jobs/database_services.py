"""Build the services of activities that use only the database: no endpoint and no tools."""

from holdfast.activities.runtime.activity_services import ModelRegistry, Services
from holdfast.roles.extractive.extractive_model import ExtractiveModel
from holdfast.storage.core.database import Database
from holdfast.tools.mcp.tool_hub import Hub


def database_services(db: Database) -> Services:
    """Services over the database, with the built-in model and no tool servers."""
    return Services(db, ModelRegistry(ExtractiveModel()), Hub({}, {}))
