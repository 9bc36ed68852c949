/**
 * The ledger: a file of the load generator with every attempt to store a reading or a point, and its result. The attempt is
 * written before its bytes are sent. The result is synced soon after the response. Each line is a JSON object: an attempt, a
 * result, or a revocation.
 */

import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs'

/**
 * `live` has no time. `timed` has the current time, `late` one of days ago. `import` is part of a bulk import. `bad`, `wrong` and
 * `revoked` must be rejected: for the payload, the password, or the revoked password.
 */
export type Kind = 'live' | 'timed' | 'late' | 'import' | 'bad' | 'wrong' | 'revoked'

export interface Attempt {
  sequence: number
  device: string
  kind: Kind
  /** The time sent in the row. */
  timeMs: number | undefined
  startMs: number
  endMs: number | undefined
  /** Status of the response. Undefined without a response, or if it does not determine this reading's result. */
  status: number | undefined
}

export type Beginning = Pick<Attempt, 'sequence' | 'device' | 'kind' | 'timeMs'>

export interface Ledger {
  attempts: Attempt[]
  revocations: { device: string; atMs: number }[]
}

export const isAcknowledged = ({ status }: Attempt): boolean => status === 200 || status === 201

export interface LedgerWriter {
  attempt(...beginning: Beginning[]): void
  /** An undefined status means that there was no response. */
  result(sequence: number, status: number | undefined): void
  revoked(device: string, atMs: number): void
  close(): void
}

const syncEveryMs = 50

export function openLedger(path: string): LedgerWriter {
  const descriptor = openSync(path, 'a')
  let results: string[] = []
  const flush = () => {
    if (results.length === 0) return
    writeSync(descriptor, results.join(''))
    results = []
    fdatasyncSync(descriptor)
  }
  const timer = setInterval(flush, syncEveryMs)
  const line = (entry: object) => `${JSON.stringify(entry)}\n`
  return {
    attempt(...beginning) {
      const startMs = Date.now()
      writeSync(descriptor, beginning.map(one => line({ ...one, startMs })).join(''))
    },
    result: (sequence, status) => void results.push(line({ sequence, status, endMs: Date.now() })),
    revoked: (device, atMs) => void results.push(line({ device, atMs })),
    close() {
      clearInterval(timer)
      flush()
      closeSync(descriptor)
    },
  }
}

export function readLedger(path: string): Ledger {
  const attempts = new Map<number, Attempt>()
  const revocations: Ledger['revocations'] = []
  for (const text of readFileSync(path, 'utf8').split('\n')) {
    if (text === '') continue
    const entry = JSON.parse(text)
    const attempt = attempts.get(entry.sequence)
    if ('atMs' in entry) revocations.push(entry)
    else if ('device' in entry) attempts.set(entry.sequence, entry)
    else if (attempt !== undefined) Object.assign(attempt, entry)
    else throw new Error(`the ledger has a result of an attempt that it does not have: ${text}`)
  }
  return { attempts: [...attempts.values()], revocations }
}
