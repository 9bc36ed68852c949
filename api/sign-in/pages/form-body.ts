/** Parses the fields of a browser's form: `application/x-www-form-urlencoded`, in UTF-8. */

import { MIMEType } from 'node:util'
import type { FormFields } from './page.ts'

/** More than any form has. */
const fieldsMax = 50

/** Undefined for other media types, invalid UTF-8 and repeated names, which no form sends. */
export function parseForm(bytes: Buffer | undefined, contentType: string | undefined): FormFields | undefined {
  if (!isForm(contentType)) return undefined
  const text = bytes?.toString('latin1') ?? ''
  const pairs = text === '' ? [] : text.split('&', fieldsMax + 1)
  if (pairs.length > fieldsMax) return undefined
  const fields = new Map<string, string>()
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    const name = decode(at < 0 ? pair : pair.slice(0, at))
    const value = decode(at < 0 ? '' : pair.slice(at + 1))
    if (name === undefined || value === undefined || fields.has(name)) return undefined
    fields.set(name, value)
  }
  return Object.fromEntries(fields)
}

function decode(text: string): string | undefined {
  // Browsers escape all other characters.
  if (/[^\x20-\x7e]/.test(text)) return undefined
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

function isForm(contentType: string | undefined): boolean {
  if (contentType === undefined) return false
  try {
    return new MIMEType(contentType).essence === 'application/x-www-form-urlencoded'
  } catch {
    return false
  }
}
