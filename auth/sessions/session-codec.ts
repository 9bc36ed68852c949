/** Encodes session tokens as Auth.js does. A setting decides their form. The cookie's name is part of the key. */

import { createHash, hkdfSync } from 'node:crypto'
import { decodeProtectedHeader, EncryptJWT, type JWTPayload, jwtDecrypt, jwtVerify, SignJWT } from 'jose'

export type SessionFormat = 'jwe-v5' | 'jwe-v4' | 'hs256'

export interface SessionCodec {
  cookieName: string
  /** True if browsers send the cookie over HTTPS only. */
  isSecure: boolean
  /** Rejects a token with a foreign secret or form, an expired one, and one that lacks a claim. */
  decode(token: string): Promise<JWTPayload>
  /** Uses the first secret. */
  encode(claims: JWTPayload): Promise<string>
}

export interface SessionCodecOptions {
  format: SessionFormat
  /** The first one encrypts. The others are former ones. */
  secrets: readonly string[]
  /** True if browsers use HTTPS, which changes the cookie's name. */
  isSecure: boolean
  nowMs: () => number
}

export const clockToleranceSeconds = 15

interface Checks {
  clockTolerance: number
  currentDate: Date
  requiredClaims: string[]
}

/** One secret in one form. */
interface SessionKey {
  /** Key id in the tokens' header; undefined in forms without. */
  keyId: string | undefined
  open(token: string, checks: Checks): Promise<JWTPayload>
  seal(claims: JWTPayload): Promise<string>
}

export function createSessionCodec({ format, secrets, isSecure, nowMs }: SessionCodecOptions): SessionCodec {
  const cookieName = cookieNameOf(format, isSecure)
  const keys = secrets.map(secret => keyMakers[format](secret, cookieName))
  const [first] = keys
  if (first === undefined) throw new Error('session tokens need a secret')
  return {
    cookieName,
    isSecure,
    async decode(token) {
      const currentDate = new Date(nowMs())
      const checks = { clockTolerance: clockToleranceSeconds, currentDate, requiredClaims: ['exp', 'iat', 'sub'] }
      let fault: unknown = new Error('no key of ours')
      const { kid } = first.keyId === undefined ? {} : decodeProtectedHeader(token)
      for (const key of keys) {
        if (key.keyId !== kid) continue
        try {
          return await key.open(token, checks)
        } catch (error) {
          fault = error
        }
      }
      throw fault
    },
    encode: claims => first.seal(claims),
  }
}

const keyMakers: Record<SessionFormat, (secret: string, cookieName: string) => SessionKey> = {
  'jwe-v5': (secret, cookieName) => {
    const info = `Auth.js Generated Encryption Key (${cookieName})`
    const key = new Uint8Array(hkdfSync('sha256', secret, cookieName, info, 64))
    return encryptedKey(key, 'A256CBC-HS512', thumbprintOf(key))
  },
  'jwe-v4': secret => {
    const key = new Uint8Array(hkdfSync('sha256', secret, '', 'NextAuth.js Generated Encryption Key', 32))
    return encryptedKey(key, 'A256GCM', undefined)
  },
  hs256: secret => {
    const key = new TextEncoder().encode(secret)
    return {
      keyId: undefined,
      open: async (token, checks) => (await jwtVerify(token, key, { ...checks, algorithms: ['HS256'] })).payload,
      seal: claims => new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(key),
    }
  },
}

function encryptedKey(key: Uint8Array, enc: string, keyId: string | undefined): SessionKey {
  const allowed = { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: [enc] }
  const header = { alg: 'dir', enc, ...(keyId === undefined ? {} : { kid: keyId }) }
  return {
    keyId,
    open: async (token, checks) => (await jwtDecrypt(token, key, { ...checks, ...allowed })).payload,
    seal: claims => new EncryptJWT(claims).setProtectedHeader(header).encrypt(key),
  }
}

/** RFC 7638, with SHA-512. */
function thumbprintOf(key: Uint8Array): string {
  const k = Buffer.from(key).toString('base64url')
  return createHash('sha512')
    .update(JSON.stringify({ k, kty: 'oct' }))
    .digest('base64url')
}

function cookieNameOf(format: SessionFormat, isSecure: boolean): string {
  const name = format === 'jwe-v4' ? 'next-auth.session-token' : 'authjs.session-token'
  return isSecure ? `__Secure-${name}` : name
}
