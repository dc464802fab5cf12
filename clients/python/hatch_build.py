"""Refuses to build the package without the code that `generate` writes."""
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class GeneratedCode(BuildHookInterface[Any]):
    """The check before each build."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Ends the build with the commands to run."""
        if not Path(self.root, "src/civitas_client/generated/__init__.py").is_file():
            sys.exit(
                f"civitas-client has no code of the operations yet. Run in {self.root}:\n"
                "    pip install openapi-python-client==0.29.1\n"
                "    ./generate BINARY\n"
                "BINARY is a built `civitas`, or a file named *.json with its OpenAPI document."
            )
