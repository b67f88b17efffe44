from __future__ import annotations

import pytest

from distrl.phone_server.phone import PhoneModel, ServedPhone


@pytest.fixture
def phone() -> ServedPhone:
    return ServedPhone(PhoneModel(seed=3), "test")
