// A certificate for its own key. Node can read X.509 and not write it, so these are the few forms of DER that it takes.
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

function der(tag, ...parts) {
  const body = Buffer.concat(parts)
  const length = []
  for (let n = body.length; n > 0; n >>= 8) length.unshift(n & 0xff)
  const head = body.length < 0x80 ? [body.length] : [0x80 | length.length, ...length]
  return Buffer.concat([Buffer.from([tag, ...head]), body])
}

const sequence = (...parts) => der(0x30, ...parts)
const set = (...parts) => der(0x31, ...parts)
const integer = (bytes) => der(0x02, bytes)
const bits = (bytes) => der(0x03, Buffer.from([0]), bytes)
const octets = (bytes) => der(0x04, bytes)
const identifier = (hex) => der(0x06, Buffer.from(hex, 'hex'))
const text = (value) => der(0x0c, Buffer.from(value))
const explicit = (number, part) => der(0xa0 | number, part)
const time = (ms) => der(0x18, Buffer.from(new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '')))

const commonName = identifier('550403')
const subjectAltName = identifier('551d11')
const ecdsaWithSHA256 = sequence(identifier('2a8648ce3d040302'))

const minute = 60_000
const year = 365 * 24 * 60 * minute

/** Returns a new P-256 key (PEM) and its self-signed certificate (PEM and DER) for the host name. */
export function ownCertificate(host) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = sequence(set(sequence(commonName, text(host))))
  const serial = Buffer.concat([Buffer.from([1]), randomBytes(15)])
  const hostName = der(0x82, Buffer.from(host))
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))), // version 3
    integer(serial),
    ecdsaWithSHA256,
    name,
    sequence(time(Date.now() - minute), time(Date.now() + year)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(sequence(subjectAltName, octets(sequence(hostName))))),
  )
  const certificate = sequence(body, ecdsaWithSHA256, bits(sign('sha256', body, privateKey)))
  const pem = `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }), pem, der: certificate }
}
