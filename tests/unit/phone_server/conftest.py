from __future__ import annotations

import pytest

from distrl.phone_server.phone import Model, ServedPhone


@pytest.fixture
def phone() -> ServedPhone:
    return ServedPhone(Model(seed=3), "test")
