/** One read of the service: JSON with its tag, or why there is none. */

import type { RangeReadings } from '../../api/read/shapes.ts'
import { t } from '../words/words.ts'
import { withToken } from './request-token.ts'

export type Failure =
  /** No answer in time: the network or the service is unavailable. */
  | { kind: 'unreachable' }
  /** 503: the service runs, and something that it needs does not, as its database while that starts. */
  | { kind: 'unavailable'; sentence: string; retryAfterMs: number | undefined }
  /** 401: these readings are not for everybody. */
  | { kind: 'signed-out' }
  /** 404 */
  | { kind: 'missing'; sentence: string }
  /** Another answer, such as 400 or 500. */
  | { kind: 'refused'; status: number; sentence: string }

export type Outcome<T> =
  | { kind: 'answer'; value: T; etag: string | undefined }
  /** 304: the response of the tag is still current. */
  | { kind: 'unchanged' }
  | { kind: 'failure'; failure: Failure }

export interface ReadOptions {
  /** The tag of the answer that the caller already has. */
  etag?: string | undefined
  signal?: AbortSignal
  timeoutMs?: number
  /** Stands in for the network in tests. */
  request?: (url: string, init: RequestInit) => Promise<Response>
}

const timeoutMsUsual = 15_000
/** The longest `Retry-After` that is obeyed. */
const retryAfterSecondsMax = 600

let readsMax = Number.POSITIVE_INFINITY
let readsRunning = 0
const waiting: (() => void)[] = []

/** Further reads of the page wait for one to end. Returns a function that ends this. */
export function limitReads(count: number): () => void {
  readsMax = count
  return () => {
    readsMax = Number.POSITIVE_INFINITY
    for (const go of waiting.splice(0)) go()
  }
}

/** Throws only when `signal` is aborted. The shape of the answer is the service's promise. It is not checked here. */
export async function readJson<T>(url: string, options: ReadOptions = {}): Promise<Outcome<T>> {
  if (readsRunning >= readsMax) await new Promise<void>(resolve => waiting.push(resolve))
  readsRunning++
  try {
    return await readNow<T>(url, options)
  } finally {
    readsRunning--
    if (readsRunning < readsMax) waiting.shift()?.()
  }
}

async function readNow<T>(url: string, options: ReadOptions): Promise<Outcome<T>> {
  const { etag, signal, timeoutMs = timeoutMsUsual, request = fetch } = options
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const init: RequestInit = {
      // With a browser cache, a 304 of the service would arrive as 200.
      cache: 'no-store',
      headers: { accept: 'application/json', ...(etag === undefined ? {} : { 'if-none-match': etag }) },
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    }
    const response = await request(url, withToken(init))
    if (response.status === 304) return { kind: 'unchanged' }
    if (!response.ok) return { kind: 'failure', failure: await failureOf(response) }
    return { kind: 'answer', value: (await response.json()) as T, etag: response.headers.get('etag') ?? undefined }
  } catch (error) {
    if (signal?.aborted) throw error
    return { kind: 'failure', failure: { kind: 'unreachable' } }
  }
}

async function failureOf(response: Response): Promise<Failure> {
  const { status } = response
  const sentence = await sentenceOf(response)
  if (status === 401) return { kind: 'signed-out' }
  if (status === 404) return { kind: 'missing', sentence }
  if (status === 503) return { kind: 'unavailable', sentence, retryAfterMs: retryAfterMsOf(response) }
  // A proxy answers these for an unavailable service.
  if (status === 502 || status === 504) return { kind: 'unreachable' }
  return { kind: 'refused', status, sentence }
}

/** The logger API and the server say `status`. The other families `detail`, as problem+json. */
async function sentenceOf(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => undefined)
  const { status, detail } = (body ?? {}) as Record<string, unknown>
  if (typeof detail === 'string') return detail
  return typeof status === 'string' ? status : t('status {status}', { status: response.status })
}

function retryAfterMsOf({ headers }: Response): number | undefined {
  const seconds = Number.parseInt(headers.get('retry-after') ?? '', 10)
  return seconds >= 0 ? Math.min(seconds, retryAfterSecondsMax) * 1000 : undefined
}

export interface ReadReadings {
  readonly rows: RangeReadings
  /** Codes by metric; empty for a device, whose units are fixed. */
  readonly units: Readonly<Record<string, string>>
}

export async function readReadings(url: string, options: ReadOptions = {}): Promise<Outcome<ReadReadings>> {
  const { request = fetch } = options
  let named: string | null = null
  const outcome = await readJson<RangeReadings>(url, {
    ...options,
    async request(...asked) {
      const response = await request(...asked)
      named = response.headers.get('point-units')
      return response
    },
  })
  return outcome.kind === 'answer'
    ? { ...outcome, value: { rows: outcome.value, units: unitsIn(named ?? '') } }
    : outcome
}

/** `no2=ppb, pm25=ugm3` */
function unitsIn(header: string): Record<string, string> {
  const pairs = header.split(', ').map(pair => pair.split('='))
  return Object.fromEntries(pairs.flatMap(([name, code]) => (name && code ? [[name, code]] : [])))
}
