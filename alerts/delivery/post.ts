/** One POST to an address that was checked: over a connection of its own, without redirects, within the time of an attempt. */

import { Client } from 'undici'
import { type AttemptResult, answerLengthRead, codeOf, shownAnswer } from './attempt.ts'
import type { TargetCheck } from './targets.ts'

export interface Posted {
  url: string
  headers: Readonly<Record<string, string>>
  body: string
  /** Secrets that are removed from the recorded answer. */
  secrets: readonly string[]
}

export type Post = (posted: Posted, signal: AbortSignal) => Promise<AttemptResult>

const userAgent = 'Barograph'
const gone = 410

export function createPost(targets: TargetCheck): Post {
  return async ({ url: text, headers, body, secrets }, signal) => {
    const startedMs = performance.now()
    const result = (rest: Omit<AttemptResult, 'durationMs'>) => ({ ...rest, durationMs: passedMs(startedMs) })
    const fault = targets.faultOf(text)
    if (fault !== undefined) return result({ outcome: 'failed', status: null, error: fault, answer: '' })
    const url = new URL(text)
    const client = new Client(url.origin, { connect: targets.connectorTo(url, signal), pipelining: 0 })
    try {
      const answer = await client.request({
        method: 'POST',
        path: `${url.pathname}${url.search}`,
        headers: { 'content-type': 'application/json', 'user-agent': userAgent, ...headers },
        body,
        signal,
      })
      const { statusCode: status } = answer
      const isDelivered = status >= 200 && status < 300
      const outcome = isDelivered ? 'delivered' : status === gone ? 'gone' : 'failed'
      const error = isDelivered ? null : `status ${status}`
      return result({ outcome, status, error, answer: shownAnswer(await beginningOf(answer.body), secrets) })
    } catch (error) {
      return result({ outcome: 'failed', status: null, error: whyOf(error, signal), answer: '' })
    } finally {
      // The rest of the answer is not read.
      client.destroy().catch(() => undefined)
    }
  }
}

/** Reads the beginning of the body. The status decides, whether or not the body ends. */
async function beginningOf(body: AsyncIterable<Buffer>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true })
      if (text.length >= answerLengthRead) break
    }
  } catch {
    // It was cut off.
  }
  return text
}

function whyOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'no answer in time'
  const code = codeOf(error)
  return code === 'TARGET_REFUSED' && error instanceof Error ? error.message : code
}

function passedMs(startedMs: number): number {
  return Math.round(performance.now() - startedMs)
}
