/**
 * Generates the text of an API key: `barograph_key_`, 256 random bits in base 62, and a checksum. The prefix lets
 * scanners find leaked keys. The checksum refuses garbage without a lookup. View links have the same form with
 * `barograph_view_`.
 */

import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const brand = 'barograph_key_'
const linkBrand = 'barograph_view_'
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 62^43 is more than 2^256, 62^6 more than 2^32. */
const secretLength = 43
const checksumLength = 6
const shownLength = 8
export const keyTextLength = brand.length + secretLength + checksumLength

/** Prefix, secret and checksum. */
const pattern = /^barograph_key_[0-9A-Za-z]{49}$/
const linkPattern = /^barograph_view_[0-9A-Za-z]{49}$/

export function createKeyText(): string {
  return withChecksum(`${brand}${createSecret()}`)
}

export function createLinkToken(): string {
  return withChecksum(`${linkBrand}${createSecret()}`)
}

/** Generates another key with the same shown prefix: 35 new characters, which are 208 bits. */
export function createKeyTextLike(prefix: string): string {
  return withChecksum(`${prefix}${createSecret().slice(shownLength)}`)
}

function createSecret(): string {
  return inBase62(BigInt(`0x${randomBytes(32).toString('hex')}`), secretLength)
}

function withChecksum(text: string): string {
  return `${text}${checksumOf(text)}`
}

/** True for a text with the form and the checksum of a key. */
export function isKeyText(text: string): boolean {
  return pattern.test(text) && hasChecksum(text)
}

/** True for a text with the form and the checksum of a view link's token. */
export function isLinkToken(text: string): boolean {
  return linkPattern.test(text) && hasChecksum(text)
}

function hasChecksum(text: string): boolean {
  return checksumOf(text.slice(0, -checksumLength)) === text.slice(-checksumLength)
}

/** True if the text may have a key or a view link's token, whole or in part. */
export function mayHoldKey(text: string): boolean {
  return text.includes(brand) || text.includes(linkBrand)
}

/** Shown part of a key, or of a view link's token. */
export function prefixOf(text: string): string {
  return text.slice(0, text.lastIndexOf('_') + 1 + shownLength)
}

/** Stored digest. A plain hash suffices for 256 random bits. */
export function digestOf(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

function checksumOf(text: string): string {
  return inBase62(BigInt(crc32(text)), checksumLength)
}

function inBase62(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; rest > 0n; rest /= 62n) text = `${digits[Number(rest % 62n)]}${text}`
  return text.padStart(length, '0')
}
