"""Sections of a config whose keys depend on a name in them, as `algorithm` does on `algorithm.name`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from distrl.registry import Registry


@dataclass(frozen=True)
class Choice:
    """Marks a field that holds the settings of one of several things: `Annotated[AlgorithmConfig, ALGORITHM]`."""

    registry: Registry
    """Name → class of settings."""
    key: str
    """The key of the section that holds the name."""
    default: str

    def name(self, section: object) -> str:
        """What a section of a tree chooses."""
        return str(section.get(self.key, self.default)) if isinstance(section, Mapping) else self.default

    def model(self, section: object) -> type[BaseModel]:
        """The class of what it chooses. Raises `UnknownName`."""
        found: type[BaseModel] = self.registry.load(self.name(section))
        return found

    def models(self) -> dict[str, type[BaseModel]]:
        return {name: self.registry.load(name) for name in self.registry.names()}

    def defaults(self) -> Any:
        """The settings where a config says nothing."""
        return self.registry.load(self.default)()

    def switched(self, section: Mapping[str, Any], name: str) -> dict[str, Any]:
        """A section written for one thing as another takes it: keys that both have are kept, keys that only the former
        has are left out. What neither has stays, to be reported."""
        former, chosen = self.model(section).model_fields, self.model({self.key: name}).model_fields
        return {key: value for key, value in section.items() if key in chosen or key not in former}

    def read_by_chosen(self, section: Mapping[str, Any]) -> dict[str, Any]:
        """The section without the keys that others have and the chosen one has not."""
        chosen = self.model(section).model_fields
        return {key: value for key, value in section.items() if key in chosen or not self.owners(key)}

    def owners(self, field: str) -> list[str]:
        """The names whose settings have this field."""
        return [name for name, model in self.models().items() if field in model.model_fields]

    def validated(self, value: Any) -> Any:
        """A mapping becomes the settings that it chooses; anything else is left to pydantic."""
        return self.model(value).model_validate(value) if isinstance(value, Mapping) else value

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        def each_by_its_class(value: Any, serialize: core_schema.SerializerFunctionWrapHandler) -> Any:
            return serialize(value)

        as_it_is = core_schema.wrap_serializer_function_ser_schema(each_by_its_class, schema=core_schema.any_schema())
        return core_schema.no_info_before_validator_function(self.validated, handler(source), serialization=as_it_is)
