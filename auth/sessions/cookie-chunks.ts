/** Splits session cookies in a Cookie header: one, or several numbered ones for a long token. */

const chunksMax = 4
const lengthMax = 12_000
/** Auth.js splits at 4,096 bytes minus the largest name and attributes. */
const chunkLength = 3_936

/** `none` without such a cookie; `bad` if it cannot be read unambiguously. */
export type SessionCookie = { kind: 'none' } | { kind: 'bad' } | { kind: 'token'; token: string }

/** Reads exactly `<name>`, or `<name>.0`, `.1`, … without a gap. */
export function readSessionCookie(header: string | undefined, name: string): SessionCookie {
  const found = new Map<string, string>()
  for (const part of (header ?? '').split(';')) {
    const at = part.indexOf('=')
    const key = part.slice(0, Math.max(at, 0)).trim()
    if (key !== name && !key.startsWith(`${name}.`)) continue
    // A repeated cookie is ambiguous.
    if (found.has(key)) return { kind: 'bad' }
    found.set(key, part.slice(at + 1).trim())
  }
  const whole = found.get(name)
  if (whole !== undefined) return tokenOf(whole)
  const chunks: string[] = []
  for (let at = 0; at < chunksMax; at++) {
    const chunk = found.get(`${name}.${at}`)
    if (chunk === undefined) break
    chunks.push(chunk)
  }
  if (chunks.length === 0) return { kind: 'none' }
  return found.has(`${name}.${chunksMax}`) ? { kind: 'bad' } : tokenOf(chunks.join(''))
}

function tokenOf(token: string): SessionCookie {
  return token === '' || token.length > lengthMax ? { kind: 'bad' } : { kind: 'token', token }
}

export interface CookieAttributes {
  isSecure: boolean
  expiresMs: number
}

/** Set-Cookie headers for a token, in as many cookies as it needs. Remaining older cookies are deleted. */
export function writeSessionCookie(name: string, token: string, { isSecure, expiresMs }: CookieAttributes): string[] {
  const attributes = `Path=/; Expires=${new Date(expiresMs).toUTCString()}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  if (token.length <= chunkLength) return [`${name}=${token}; ${attributes}`]
  const chunks: string[] = []
  for (let at = 0; at < token.length; at += chunkLength) chunks.push(token.slice(at, at + chunkLength))
  return [
    `${name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`,
    ...chunks.map((chunk, at) => `${name}.${at}=${chunk}; ${attributes}`),
  ]
}

/** Set-Cookie headers that delete the session cookie in all its pieces. */
export function endSessionCookie(name: string, isSecure: boolean): string[] {
  const pieces = Array.from({ length: chunksMax }, (_, at) => `${name}.${at}`)
  const attributes = `Path=/; Max-Age=0; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  return [name, ...pieces].map(piece => `${piece}=; ${attributes}`)
}
