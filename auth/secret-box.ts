/** Encrypts recoverable secrets at rest: AES-256-GCM, with a key outside the database. */

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

export interface SecretBox {
  /** `context` names the row: a copy in another row cannot be opened. */
  seal(secret: string, context: string): Buffer
  /** Rejects texts of another key or context, and changed ones. */
  open(sealed: Buffer, context: string): string
}

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/** `purpose` separates keys of the same secret. */
export function createSecretBox(secret: string, purpose: string): SecretBox {
  const key = Buffer.from(hkdfSync('sha256', secret, '', purpose, 32))
  return {
    seal(text, context) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(context))
      return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    },
    open(sealed, context) {
      const tagAt = sealed.length - tagBytes
      const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes })
      decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(tagAt))
      return decipher.update(sealed.subarray(nonceBytes, tagAt), undefined, 'utf8') + decipher.final('utf8')
    },
  }
}
