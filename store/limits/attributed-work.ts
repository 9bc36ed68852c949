/**
 * Identifies the unit of work that ended the process. Work repeated after each start, such as a delivery, would end every start:
 * the next start skips it. A killed process blames no work, so its work is repeated as usual.
 */

import { AsyncLocalStorage } from 'node:async_hooks'

export const workKinds = ['delivery', 'mail', 'erase', 'rule'] as const

export interface Work {
  readonly kind: (typeof workKinds)[number]
  readonly id: string
}

interface RunningWork extends Work {
  endedMs: number
}

/** A socket that the work opened may fail shortly after the work has ended. */
const afterMsMax = 10_000

const running = new AsyncLocalStorage<RunningWork>()
const blamed = new Set<string>()

/** Attributes to the work any uncaught error in `run` or in its leftover callbacks. */
export async function attributed<Value>({ kind, id }: Work, run: () => Promise<Value>): Promise<Value> {
  const work: RunningWork = { kind, id, endedMs: Number.POSITIVE_INFINITY }
  try {
    return await running.run(work, run)
  } finally {
    work.endedMs = performance.now()
  }
}

/** Call it in the handler of uncaught errors. Returns the work that caused the error, as far as known. */
export function blameWork(): Work | undefined {
  const work = running.getStore()
  if (work === undefined || performance.now() > work.endedMs + afterMsMax) return undefined
  blamed.add(keyOf(work))
  return { kind: work.kind, id: work.id }
}

export function isBlamed(work: Work): boolean {
  return blamed.has(keyOf(work))
}

function keyOf({ kind, id }: Work): string {
  return `${kind} ${id}`
}
