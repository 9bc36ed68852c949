/** One attempt to deliver a notification, and its result. */

export interface AttemptResult {
  /** `written`: a mail became a file. `gone`: it says that it wants no more (410). */
  outcome: 'delivered' | 'written' | 'failed' | 'gone'
  /** HTTP status of the answer. */
  status: number | null
  /** A code or a few words, never the text of an error, which may hold an address. */
  error: string | null
  /** The beginning of its body. */
  answer: string
  durationMs: number
}

export const answerLengthMax = 1000
/** The limit covers name resolution, connection and answer. */
export const attemptMsMax = 15_000

export function delivered(durationMs: number): AttemptResult {
  return { outcome: 'delivered', status: null, error: null, answer: '', durationMs }
}

/** Nothing of it is to be tried again. */
export function isDone({ outcome }: Pick<AttemptResult, 'outcome'>): boolean {
  return outcome === 'delivered' || outcome === 'written'
}

export function failed(error: string, durationMs: number): AttemptResult {
  return { outcome: 'failed', status: null, error, answer: '', durationMs }
}

/** More of an answer than is kept, so that a secret across its end is found. */
export const answerLengthRead = answerLengthMax + 4000

/** A foreign text as PostgreSQL takes it, without the secrets that it may repeat, whole or in part. */
export function shownAnswer(text: string, secrets: readonly string[]): string {
  const parts = new Set(secrets.flatMap(partsOf).flatMap(part => [part, part.replaceAll('/', '\\/')]))
  const longestFirst = [...parts].sort((a, b) => b.length - a.length)
  const begun = text.slice(0, answerLengthRead)
  const shown = longestFirst.reduce((rest, part) => rest.replaceAll(part, '***'), begun)
  // Where masks made it shorter, the beginning of a secret may stand at the end of the part that was read.
  const whole = text.length >= answerLengthRead ? shown.slice(0, -(answerLengthRead - answerLengthMax)) : shown
  return whole.replaceAll('\0', '\u{fffd}').slice(0, answerLengthMax).toWellFormed()
}

/** Shorter steps of a path, such as `api`, are in many texts and keep no secret. */
const stepLengthMin = 6

/**
 * The secret. For an address, its path, the steps of the path, and the parts of its query and fragment, as written and
 * decoded.
 */
function partsOf(secret: string): string[] {
  const url = URL.parse(secret)
  if (url === null) return secret === '' ? [] : [secret]
  const { href, pathname, search, hash, searchParams } = url
  const steps = [...pathname.split('/'), ...searchParams.values(), hash.slice(1)]
  const parts = [
    secret,
    href,
    ...(pathname === '/' ? [] : [`${pathname}${search}`, pathname]),
    search.slice(1),
    ...steps,
  ]
  return parts.flatMap(part => [part, decoded(part)]).filter(part => part.length >= stepLengthMin)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Errors of Node, undici and nodemailer have codes. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && code !== '' ? code : error.name
}
