import { generateKeyPairSync, randomBytes, sign, X509Certificate, type KeyObject } from "node:crypto";
import { ServerCredentials } from "@grpc/grpc-js";
import { bits, der, explicit, identifier, integer, octets, sequence, set, text, time, yes } from "./der.js";

/** The plugin's side of go-plugin's mutual TLS. The certificate is the sixth field of the handshake line. */
export interface Identity {
  credentials: ServerCredentials;
  certificate: string;
}

/** Returns the identity that answers the host's certificate, which is PEM, or one without TLS if there is none. */
export function newIdentity(hostPem: string | undefined): Identity {
  if (hostPem === undefined || hostPem === "") {
    return { credentials: ServerCredentials.createInsecure(), certificate: "" };
  }
  try {
    new X509Certificate(hostPem);
  } catch (error) {
    throw new Error("PLUGIN_CLIENT_CERT holds no certificate", { cause: error });
  }
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const certificate = selfSigned(privateKey, publicKey);
  const pair = { private_key: Buffer.from(privateKey.export({ type: "pkcs8", format: "pem" })), cert_chain: Buffer.from(pemOf(certificate)) };
  return {
    credentials: ServerCredentials.createSsl(Buffer.from(hostPem), [pair], true),
    certificate: certificate.toString("base64").replace(/=+$/, ""),
  };
}

const ecdsaWithSha256 = sequence(identifier("1.2.840.10045.4.3.2"));

/** Returns the certificate, in DER, of a P-256 key for localhost. */
export function selfSigned(privateKey: KeyObject, publicKey: KeyObject): Buffer {
  const year = 365 * 86_400_000;
  const name = sequence(set(sequence(identifier("2.5.4.10"), text("mcphost"))), set(sequence(identifier("2.5.4.3"), text("localhost"))));
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))), // version 3
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ecdsaWithSha256,
    name,
    sequence(time(new Date(Date.now() - 60_000)), time(new Date(Date.now() + 30 * year))),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    explicit(3, extensions),
  );
  return sequence(body, ecdsaWithSha256, bits(sign("sha256", body, privateKey)));
}

const extension = (id: string, critical: boolean, value: Buffer): Buffer =>
  critical ? sequence(identifier(id), yes, octets(value)) : sequence(identifier(id), octets(value));

const extensions = sequence(
  extension("2.5.29.19", true, sequence(yes)), // basic constraints: an authority, its own
  extension("2.5.29.15", true, bits(Buffer.from([0b10101100]), 2)), // key usage: signatures, key encipherment and agreement, certificates
  extension("2.5.29.37", false, sequence(identifier("1.3.6.1.5.5.7.3.1"), identifier("1.3.6.1.5.5.7.3.2"))), // of servers and clients
  extension("2.5.29.17", false, sequence(der(0x82, Buffer.from("localhost")))), // its name
);

function pemOf(certificate: Buffer): string {
  const lines = certificate.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
