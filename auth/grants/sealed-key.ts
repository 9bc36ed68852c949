/**
 * Encrypts an API key for the device that waits for it: to an X25519 key whose private half follows from the device
 * code, of which we keep a digest only. So whoever reads the database, a backup or its log cannot open it.
 */

import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
} from 'node:crypto'

const publicBytes = 32
const tagBytes = 16
const keyBytes = 32
const nonceBytes = 12
const algorithm = 'aes-256-gcm'

/** What stands before the 32 bytes of an X25519 key in PKCS #8 and in SPKI (RFC 8410). */
const privatePrefix = Buffer.from('302e020100300506032b656e04220420', 'hex')
const publicPrefix = Buffer.from('302a300506032b656e032100', 'hex')

/** The public half of the key that follows from a device code. */
export function publicKeyOf(deviceCode: string): Buffer {
  return bytesOf(createPublicKey(privateKeyOf(deviceCode)))
}

/** `context` has to be the same when it is opened: it binds the text to its row. */
export function seal(publicKey: Buffer, text: string, context: string): Buffer {
  const ephemeral = generateKeyPairSync('x25519')
  const ours = bytesOf(ephemeral.publicKey)
  const { key, nonce } = secretsOf(ephemeral.privateKey, publicKeyFrom(publicKey), ours, publicKey)
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(context))
  return Buffer.concat([ours, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

/** Throws when it was sealed to another key or for another context, or was changed. */
export function unseal(deviceCode: string, sealed: Buffer, context: string): string {
  const privateKey = privateKeyOf(deviceCode)
  const theirs = sealed.subarray(0, publicBytes)
  const ours = bytesOf(createPublicKey(privateKey))
  const { key, nonce } = secretsOf(privateKey, publicKeyFrom(theirs), theirs, ours)
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(-tagBytes))
  const text = Buffer.concat([decipher.update(sealed.subarray(publicBytes, -tagBytes)), decipher.final()])
  return text.toString('utf8')
}

/** The sender's key is used once, so that the key and the nonce of the cipher are as well. */
function secretsOf(privateKey: KeyObject, publicKey: KeyObject, sender: Buffer, recipient: Buffer) {
  const shared = diffieHellman({ privateKey, publicKey })
  const info = 'barograph device grant: sealed key'
  const bytes = Buffer.from(hkdfSync('sha256', shared, Buffer.concat([sender, recipient]), info, keyBytes + nonceBytes))
  return { key: bytes.subarray(0, keyBytes), nonce: bytes.subarray(keyBytes) }
}

function privateKeyOf(deviceCode: string): KeyObject {
  const seed = Buffer.from(hkdfSync('sha256', deviceCode, '', 'barograph device grant: key pair', keyBytes))
  return createPrivateKey({ key: Buffer.concat([privatePrefix, seed]), format: 'der', type: 'pkcs8' })
}

function publicKeyFrom(bytes: Buffer): KeyObject {
  return createPublicKey({ key: Buffer.concat([publicPrefix, bytes]), format: 'der', type: 'spki' })
}

function bytesOf(publicKey: KeyObject): Buffer {
  return publicKey.export({ format: 'der', type: 'spki' }).subarray(publicPrefix.length)
}
