/** One change by an API that answers problem documents, and in words why it was not made. */

import { t } from '../words/words.ts'

export type Sent<T> = { ok: true; value: T } | { ok: false; sentence: string; errors: readonly PlaceError[] }

/** An error, and its place in the body: `fields[2].unit`. */
export interface PlaceError {
  path: string
  message: string
}

const timeoutMs = 60_000
const unknown = t(
  'The service does not answer. It is not known whether the change was made: look at the list before you try again.',
)

/** An answer without a body is undefined. `request` stands in for the network in tests. */
export async function sendChange<T>(
  method: 'POST' | 'PATCH' | 'DELETE',
  url: string,
  body?: unknown,
  request: (url: string, init: RequestInit) => Promise<Response> = fetch,
): Promise<Sent<T>> {
  const json = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  try {
    const init = { method, signal: AbortSignal.timeout(timeoutMs), ...(body === undefined ? {} : json) }
    const response = await request(url, init)
    const text = await response.text()
    if (!response.ok) return { ok: false, ...refusalOf(response.status, text) }
    return { ok: true, value: (text === '' ? undefined : JSON.parse(text)) as T }
  } catch {
    return { ok: false, sentence: unknown, errors: [] }
  }
}

interface Problem {
  title?: unknown
  detail?: unknown
  errors?: unknown
}

/** The number of invalid places of a long list in a message. */
const errorsShown = 5

/** The detail of a problem document (RFC 9457), or the status of any other answer. */
function refusalOf(status: number, text: string): { sentence: string; errors: readonly PlaceError[] } {
  const { title, detail, errors } = problemIn(text)
  const reason = [detail, title].find(part => typeof part === 'string') ?? t('status {status}', { status })
  const places = Array.isArray(errors) ? (errors as PlaceError[]) : []
  const shown = places.slice(0, errorsShown).map(({ path, message }) => `${path === '' ? t('It') : path} ${message}.`)
  const left = places.length - errorsShown
  const more = left > 0 ? [t('{left} more are wrong.', { left })] : []
  const signIn = status === 401 ? [t('Sign in again.')] : []
  const sentence = [t('The service refused this: {reason}.', { reason }), ...shown, ...more, ...signIn].join(' ')
  return { sentence, errors: places }
}

function problemIn(text: string): Problem {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null ? parsed : {}
  } catch {
    return {}
  }
}
