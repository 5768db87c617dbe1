import assert from "node:assert/strict";
import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { test } from "node:test";
import { identifier, time } from "#src/der.js";
import { newIdentity, selfSigned } from "#src/identity.js";

test("a certificate is one of P-256 for localhost that signs itself", () => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const certificate = new X509Certificate(selfSigned(privateKey, publicKey));
  assert.equal(certificate.checkHost("localhost"), "localhost");
  assert.equal(certificate.verify(publicKey), true);
  assert.equal(certificate.checkPrivateKey(privateKey), true);
  assert.equal(certificate.ca, true);
  assert.deepEqual(certificate.keyUsage, ["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"]);
  assert.ok(new Date(certificate.validFrom) < new Date() && new Date(certificate.validTo).getUTCFullYear() >= 2050);
});

test("what is no certificate of a host is refused", () => {
  assert.throws(() => newIdentity("nonsense"), /PLUGIN_CLIENT_CERT holds no certificate/);
  assert.equal(newIdentity("").certificate, "");
});

test("times are as RFC 5280 wants them", () => {
  assert.equal(time(new Date("2049-12-31T23:59:59Z")).toString("latin1"), "\x17\x0d491231235959Z");
  assert.equal(time(new Date("2050-01-01T00:00:00Z")).toString("latin1"), "\x18\x0f20500101000000Z");
});

test("object identifiers are base 128", () => {
  assert.equal(identifier("1.2.840.10045.4.3.2").toString("hex"), "06082a8648ce3d040302");
});
