/**
 * The ledger: every attempt to store a reading or a point and what came back, in a file of the load generator's own. The attempt is
 * in the file before its bytes leave; its result is in it, and synced, soon after the answer came.
 *
 * A line is a JSON array: `["a", sequence, device, kind, timeMs, startMs]`, `["r", sequence, status, endMs]` (0 for no
 * answer), `["v", device, atMs]` when a revocation of the device's old password has returned.
 */

import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs'

/**
 * `live` has no time of its own; `timed` has that of the moment and `late` one of days ago; `import` is part of a bulk
 * import. `bad`, `wrong` and `revoked` must be refused: for the payload, the password, the password of yesterday.
 */
export type Kind = 'live' | 'timed' | 'late' | 'import' | 'bad' | 'wrong' | 'revoked'

export interface Attempt {
  sequence: number
  /** Or the station with the parameter. */
  device: string
  kind: Kind
  /** The row's own time. */
  timeMs: number | undefined
  startMs: number
  endMs: number | undefined
  /** Of the answer; undefined when there was none, or none that says what became of this reading. */
  status: number | undefined
}

/** What is known of an attempt before it is made. */
export type Beginning = Pick<Attempt, 'sequence' | 'device' | 'kind' | 'timeMs'>

export interface Ledger {
  /** In the order in which they were sent. */
  attempts: Attempt[]
  revocations: { device: string; atMs: number }[]
}

export const isAcknowledged = ({ status }: Attempt): boolean => status === 200 || status === 201

export interface LedgerWriter {
  /** Of what leaves together. */
  attempt(...beginning: Beginning[]): void
  /** No status: there was no answer. */
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
  const line = (...fields: unknown[]) => `${JSON.stringify(fields)}\n`
  return {
    attempt(...beginning) {
      const startMs = Date.now()
      const lines = beginning.map(({ sequence, device, kind, timeMs }) =>
        line('a', sequence, device, kind, timeMs ?? null, startMs),
      )
      writeSync(descriptor, lines.join(''))
    },
    result: (sequence, status) => void results.push(line('r', sequence, status ?? 0, Date.now())),
    revoked: (device, atMs) => void results.push(line('v', device, atMs)),
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
    const [type, ...fields] = JSON.parse(text)
    if (type === 'a') {
      const [sequence, device, kind, timeMs, startMs] = fields
      const open = { endMs: undefined, status: undefined }
      attempts.set(sequence, { sequence, device, kind, timeMs: timeMs ?? undefined, startMs, ...open })
    } else if (type === 'r') {
      const [sequence, status, endMs] = fields
      const attempt = attempts.get(sequence)
      if (attempt === undefined) throw new Error(`the ledger has a result of an attempt that it does not have: ${text}`)
      Object.assign(attempt, { endMs, status: status === 0 ? undefined : status })
    } else {
      const [device, atMs] = fields
      revocations.push({ device, atMs })
    }
  }
  return { attempts: [...attempts.values()], revocations }
}
