/** One attempt to deliver a notification, and what came of it. */

export interface AttemptResult {
  /** `written`: a mail became a file. `gone`: it says that it wants no more (410). */
  outcome: 'delivered' | 'written' | 'failed' | 'gone'
  /** Of an HTTP answer. */
  status: number | null
  /** A code or a few words, never the text of an error, which may hold an address. */
  error: string | null
  /** The beginning of its body. */
  answer: string
  durationMs: number
}

export const answerLengthMax = 1000
/** For all of it: the name, the connection and the answer. */
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

/** Of a text of somebody else: what PostgreSQL takes, and without secrets that it may have sent back. */
export function shownAnswer(text: string, secrets: readonly string[]): string {
  const shown = secrets.reduce((rest, secret) => (secret === '' ? rest : rest.replaceAll(secret, '***')), text)
  return shown.replaceAll('\0', '\u{fffd}').slice(0, answerLengthMax).toWellFormed()
}

/** Errors of Node, undici and nodemailer have codes. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && code !== '' ? code : error.name
}
