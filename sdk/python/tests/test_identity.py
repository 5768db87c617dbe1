"""The certificate: what OpenSSL makes of it. grpc's own library meets it in test_serve."""

import base64
import ssl
from pathlib import Path

from mcphost import _identity


def handshake(client: ssl.SSLContext, server: ssl.SSLContext) -> bytes:
    """The server's certificate, as the client got it."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    c = client.wrap_bio(to_client, to_server, server_hostname="localhost")
    s = server.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(10):
        done = 0
        for side in (c, s):
            try:
                side.do_handshake()
                done += 1
            except ssl.SSLWantReadError:
                pass
        if done == 2:
            return c.getpeercert(binary_form=True) or b""
    raise AssertionError("the handshake did not end")


def test_certificates_are_good_for_both_sides(tmp_path: Path) -> None:
    for i in range(5):
        one, two = _identity.new(), _identity.new()
        contexts = []
        for own, other, side in ((one, two, ssl.PROTOCOL_TLS_SERVER), (two, one, ssl.PROTOCOL_TLS_CLIENT)):
            file = tmp_path / f"{i}{side}.pem"
            file.write_bytes(own.key_pem + own.certificate_pem)
            context = ssl.SSLContext(side)
            context.load_cert_chain(file)
            context.load_verify_locations(cadata=other.certificate_pem.decode())
            context.verify_mode = ssl.CERT_REQUIRED
            contexts.append(context)
        server, client = contexts
        assert handshake(client, server) == one.certificate_der
        assert base64.b64decode(one.field() + "==") == one.certificate_der


def test_what_the_certificate_says() -> None:
    identity = _identity.new()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=identity.certificate_der)
    (about,) = context.get_ca_certs()
    assert about["subject"] == about["issuer"] == ((("commonName", "localhost"),),)
    assert about["subjectAltName"] == (("DNS", "localhost"),)
    assert about["version"] == 3
    assert _identity.new().certificate_der != identity.certificate_der


def test_multiplication_is_that_of_the_curve() -> None:
    # NIST's point multiplication vectors for P-256.
    assert _identity._multiply(1, _identity._G) == _identity._G
    x, y = _identity._multiply(112233445566778899, _identity._G)
    assert f"{x:X}" == "339150844EC15234807FE862A86BE77977DBFB3AE3D96F4C22795513AEAAB82F"
    assert f"{y:X}" == "B1C14DDFDC8EC1B2583F51E85A5EB3A155840F2034730E9B5ADA38B674336A21"
    x, _ = _identity._multiply(_identity._N - 1, _identity._G)
    assert x == _identity._G[0]
