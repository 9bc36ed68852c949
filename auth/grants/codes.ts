/**
 * The two codes of a request (RFC 8628): the device code is a secret of 256 bits that the device polls with; the user
 * code is short, because a person types it.
 */

import { hash, randomBytes, randomInt } from 'node:crypto'

/** No vowels, so that no word comes out, and nothing that is easily mistaken for something else. */
const letters = 'BCDFGHJKLMNPQRSTVWXZ'
const typedLetters = `${letters}${letters.toLowerCase()}`
const userCodeLength = 8
const deviceCodeBytes = 32

export function createUserCode(): string {
  return Array.from({ length: userCodeLength }, () => letters[randomInt(letters.length)]).join('')
}

/** As people read it: `BCDF-GHJK`. */
export function formatUserCode(code: string): string {
  return `${code.slice(0, userCodeLength / 2)}-${code.slice(userCodeLength / 2)}`
}

/** What somebody has typed, without regard to case, hyphens and spaces; undefined for what can be no code. */
export function parseUserCode(typed: string): string | undefined {
  const code = typed.replaceAll(/[-\s]/g, '')
  if (code.length !== userCodeLength) return undefined
  // Before the case is changed: other letters become one of ours.
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
