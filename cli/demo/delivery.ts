/** Sends a body to the service until it is stored, and repeats it after temporary refusals. */

import { setTimeout as sleep } from 'node:timers/promises'

export interface DeliveryRequest {
  /** The sender's name, for faults. */
  name: string
  method: 'PUT' | 'POST'
  path: string
  /** The user of HTTP Basic. */
  user: string
  password: string
  /** JSON. */
  body: string
}

export interface DeliveryOptions {
  url: string
  signal: AbortSignal
  /** Called once for each fault that lasts, not for each attempt. */
  onFault: (name: string, fault: string) => void
  retryDelayMs?: number
}

const retryDelayMsMax = 30_000
const answerMsMax = 30_000

/** The text of the answer; undefined after the signal, and when the service rejects it permanently. */
export async function deliver(request: DeliveryRequest, options: DeliveryOptions): Promise<string | undefined> {
  let delayMs = options.retryDelayMs ?? 1000
  for (let attempt = 1; ; attempt++) {
    const outcome = await send(request, options)
    if (outcome.kind === 'stored') return outcome.text
    if (options.signal.aborted) return undefined
    if (attempt === 1 || outcome.kind === 'refused') options.onFault(request.name, outcome.fault)
    if (outcome.kind === 'refused') return undefined
    if (!(await waited(Math.max(delayMs, outcome.retryAfterMs), options.signal))) return undefined
    delayMs = Math.min(retryDelayMsMax, delayMs * 2)
  }
}

type Outcome =
  | { kind: 'stored'; text: string }
  | { kind: 'later'; fault: string; retryAfterMs: number }
  | { kind: 'refused'; fault: string }

async function send(
  { method, path, user, password, body }: DeliveryRequest,
  options: DeliveryOptions,
): Promise<Outcome> {
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  try {
    const response = await fetch(`${options.url}${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      body,
      signal: AbortSignal.any([options.signal, AbortSignal.timeout(answerMsMax)]),
    })
    // Read to its end, so that the connection can be used again.
    const text = await response.text()
    if (response.ok) return { kind: 'stored', text }
    const fault = `${response.status} ${text}`
    const passes = response.status === 429 || response.status >= 500
    if (!passes) return { kind: 'refused', fault }
    const seconds = Number(response.headers.get('retry-after') ?? 0)
    return { kind: 'later', fault, retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : 0 }
  } catch (error) {
    return { kind: 'later', fault: error instanceof Error ? error.message : String(error), retryAfterMs: 0 }
  }
}

/** False when the signal came first. */
export async function waited(delayMs: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(Math.max(0, delayMs), undefined, { signal })
    return true
  } catch {
    return false
  }
}
