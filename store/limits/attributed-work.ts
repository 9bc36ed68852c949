/**
 * Finds the unit of work that ended the process. Work that is repeated after a start, such as a delivery, would end each start: the
 * next one sets it aside. A process that is killed blames none, so its work is repeated as usual.
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

/** A socket of the work may fail shortly after its end. */
const afterMsMax = 10_000

const running = new AsyncLocalStorage<RunningWork>()
const blamed = new Set<string>()

/** An error that no part catches in `run`, or in what it leaves behind, is attributed to the work. */
export async function attributed<Value>({ kind, id }: Work, run: () => Promise<Value>): Promise<Value> {
  const work: RunningWork = { kind, id, endedMs: Number.POSITIVE_INFINITY }
  try {
    return await running.run(work, run)
  } finally {
    work.endedMs = performance.now()
  }
}

/** In the handler of an uncaught error: the work that caused it, as far as it is known. */
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
