/** Generates the codes of a request (RFC 8628): a secret device code, and a short user code for typing. */

import { hash, randomBytes, randomInt } from 'node:crypto'

/** Vowels would form words, and the other missing characters look alike. */
const letters = 'BCDFGHJKLMNPQRSTVWXZ'
const typedLetters = `${letters}${letters.toLowerCase()}`
const userCodeLength = 8
const deviceCodeBytes = 32

export function createUserCode(): string {
  return Array.from({ length: userCodeLength }, () => letters[randomInt(letters.length)]).join('')
}

/** Shown form: `BCDF-GHJK`. */
export function formatUserCode(code: string): string {
  return `${code.slice(0, userCodeLength / 2)}-${code.slice(userCodeLength / 2)}`
}

/** Parses a typed code without regard to case, hyphens and spaces. Undefined for impossible codes. */
export function parseUserCode(typed: string): string | undefined {
  const code = typed.replaceAll(/[-\s]/g, '')
  if (code.length !== userCodeLength) return undefined
  // Checked before the case changes, which maps other letters to these.
  return [...code].every(letter => typedLetters.includes(letter)) ? code.toUpperCase() : undefined
}

export function createDeviceCode(): string {
  return randomBytes(deviceCodeBytes).toString('base64url')
}

export function isDeviceCode(text: string): boolean {
  return /^[\w-]{43}$/.test(text)
}

export function digestOfCode(code: string): Buffer {
  return hash('sha256', code, 'buffer')
}
