from __future__ import annotations

import socket

from distrl.ports import is_free


def test_a_port_is_free_until_somebody_listens_on_it():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert not is_free(port)
    assert is_free(port)


def test_an_address_that_is_not_this_machine_s_has_no_free_port():
    assert is_free(0)
    assert not is_free(0, "192.0.2.1")
