"""The plugin's side of go-plugin's mutual TLS: a self-signed certificate on P-256, which every TLS library knows.

The standard library makes no certificates, and a dependency for one signature would be a poor trade. The arithmetic below
is not constant in time. It signs once, with a key that lives as long as the process, for the host that started it.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from dataclasses import dataclass

# SEC 2, secp256r1; a = -3.
_P = 0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF
_N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)

_EC_PUBLIC_KEY, _P256 = "2a8648ce3d0201", "2a8648ce3d030107"
_ECDSA_SHA256, _COMMON_NAME = "2a8648ce3d040302", "550403"
_BASIC_CONSTRAINTS, _KEY_USAGE, _EXT_KEY_USAGE, _ALT_NAME = "551d13", "551d0f", "551d25", "551d11"
_SERVER_AUTH, _CLIENT_AUTH = "2b06010505070301", "2b06010505070302"


@dataclass(frozen=True)
class Identity:
    """A key and its certificate."""

    key_pem: bytes
    certificate_pem: bytes
    certificate_der: bytes

    def field(self) -> str:
        """The sixth field of the handshake line."""
        return base64.b64encode(self.certificate_der).decode().rstrip("=")


def new() -> Identity:
    """A new identity for "localhost"."""
    key = secrets.randbelow(_N - 1) + 1
    x, y = _multiply(key, _G)
    point = b"\x04" + x.to_bytes(32, "big") + y.to_bytes(32, "big")
    body = _body(point)
    algorithm = _sequence(_oid(_ECDSA_SHA256))
    der = _sequence(body, algorithm, _bits(_sign(key, body)))
    private = _sequence(_integer(1), _tlv(0x04, key.to_bytes(32, "big")), _tlv(0xA1, _bits(point)))
    pkcs8 = _sequence(_integer(0), _sequence(_oid(_EC_PUBLIC_KEY), _oid(_P256)), _tlv(0x04, private))
    return Identity(_pem("PRIVATE KEY", pkcs8), _pem("CERTIFICATE", der), der)


def _body(point: bytes) -> bytes:
    """What is signed, by RFC 5280."""
    name = _sequence(_tlv(0x31, _sequence(_oid(_COMMON_NAME), _tlv(0x0C, b"localhost"))))
    now = time.time()
    extensions = _sequence(
        _sequence(_oid(_BASIC_CONSTRAINTS), b"\x01\x01\xff", _tlv(0x04, _sequence(b"\x01\x01\xff"))),
        # digitalSignature, keyEncipherment, keyAgreement, keyCertSign
        _sequence(_oid(_KEY_USAGE), b"\x01\x01\xff", _tlv(0x04, b"\x03\x02\x02\xac")),
        _sequence(_oid(_EXT_KEY_USAGE), _tlv(0x04, _sequence(_oid(_SERVER_AUTH), _oid(_CLIENT_AUTH)))),
        _sequence(_oid(_ALT_NAME), _tlv(0x04, _sequence(_tlv(0x82, b"localhost")))),
    )
    return _sequence(
        _tlv(0xA0, _integer(2)), _integer(secrets.randbits(127) | 1), _sequence(_oid(_ECDSA_SHA256)), name,
        _sequence(_time(now - 60), _time(now + 10 * 365 * 86400)), name,
        _sequence(_sequence(_oid(_EC_PUBLIC_KEY), _oid(_P256)), _bits(point)), _tlv(0xA3, extensions),
    )  # fmt: skip


def _sign(key: int, message: bytes) -> bytes:
    """An ECDSA signature, by FIPS 186-5."""
    digest = int.from_bytes(hashlib.sha256(message).digest(), "big")
    while True:
        nonce = secrets.randbelow(_N - 1) + 1
        r = _multiply(nonce, _G)[0] % _N
        s = pow(nonce, -1, _N) * (digest + r * key) % _N
        if r and s:
            return _sequence(_integer(r), _integer(s))


def _multiply(k: int, point: tuple[int, int]) -> tuple[int, int]:
    """k times a point, in Jacobian coordinates: one division at the end. 0 < k < n."""
    x, y, z = 0, 1, 0  # the point at infinity
    for bit in bin(k)[2:]:
        x, y, z = _double(x, y, z)
        if bit == "1":
            x, y, z = _add(x, y, z, *point)
    inverse = pow(z, -1, _P)
    return x * inverse * inverse % _P, y * inverse * inverse * inverse % _P


def _double(x: int, y: int, z: int) -> tuple[int, int, int]:
    s = 4 * x * y * y % _P
    m = 3 * (x - z * z) * (x + z * z) % _P
    x3 = (m * m - 2 * s) % _P
    return x3, (m * (s - x3) - 8 * pow(y, 4, _P)) % _P, 2 * y * z % _P


def _add(x: int, y: int, z: int, px: int, py: int) -> tuple[int, int, int]:
    """Adds a point that has z = 1. The two are never the same: the sum so far is an even multiple below n."""
    if z == 0:
        return px, py, 1
    zz = z * z % _P
    h = (px * zz - x) % _P
    r = (py * zz * z - y) % _P
    hh = h * h % _P
    hhh, v = h * hh % _P, x * hh % _P
    x3 = (r * r - hhh - 2 * v) % _P
    return x3, (r * (v - x3) - y * hhh) % _P, z * h % _P


def _tlv(tag: int, content: bytes) -> bytes:
    n = len(content)
    if n < 0x80:
        return bytes([tag, n]) + content
    length = n.to_bytes((n.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + content


def _sequence(*parts: bytes) -> bytes:
    return _tlv(0x30, b"".join(parts))


def _integer(n: int) -> bytes:
    return _tlv(0x02, n.to_bytes(n.bit_length() // 8 + 1, "big"))


def _oid(encoded: str) -> bytes:
    return _tlv(0x06, bytes.fromhex(encoded))


def _bits(content: bytes) -> bytes:
    return _tlv(0x03, b"\x00" + content)


def _time(seconds: float) -> bytes:
    # RFC 5280: UTCTime through 2049, GeneralizedTime after.
    t = time.gmtime(seconds)
    if t.tm_year < 2050:
        return _tlv(0x17, time.strftime("%y%m%d%H%M%SZ", t).encode())
    return _tlv(0x18, time.strftime("%Y%m%d%H%M%SZ", t).encode())


def _pem(label: str, der: bytes) -> bytes:
    text = base64.encodebytes(der).replace(b"\n", b"")
    lines = b"\n".join(text[i : i + 64] for i in range(0, len(text), 64))
    return f"-----BEGIN {label}-----\n".encode() + lines + f"\n-----END {label}-----\n".encode()
