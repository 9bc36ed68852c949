/** Session cookies in a Cookie header: one, or several numbered ones where the token is too long for one. */

const chunksMax = 4
const lengthMax = 12_000
/** Auth.js cuts at 4,096 bytes less what the name and the attributes may take. */
const chunkLength = 3_936

/** `none` where there is no such cookie; `bad` where there is one that cannot be read unambiguously. */
export type SessionCookie = { kind: 'none' } | { kind: 'bad' } | { kind: 'token'; token: string }

/** Reads exactly `<name>`, or `<name>.0`, `.1`, … without a gap. */
export function readSessionCookie(header: string | undefined, name: string): SessionCookie {
  const found = new Map<string, string>()
  for (const part of (header ?? '').split(';')) {
    const at = part.indexOf('=')
    const key = part.slice(0, Math.max(at, 0)).trim()
    if (key !== name && !key.startsWith(`${name}.`)) continue
    // Which of two a proxy or a browser meant nobody can tell.
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

/** Set-Cookie headers for a token, in as many cookies as it needs; those of before that it does not need are ended. */
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

/** Set-Cookie headers that end the session cookie of a browser, in however many pieces it has it. */
export function endSessionCookie(name: string, isSecure: boolean): string[] {
  const pieces = Array.from({ length: chunksMax }, (_, at) => `${name}.${at}`)
  const attributes = `Path=/; Max-Age=0; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  return [name, ...pieces].map(piece => `${piece}=; ${attributes}`)
}
