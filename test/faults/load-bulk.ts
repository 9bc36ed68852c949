/** Several readings of a device in one request: as a batch, as a batch of all or nothing, and as line protocol. */

import type { Beginning } from './ledger.ts'
import type { Outgoing, Sender } from './load-traffic.ts'
import type { Answer } from './pipe.ts'
import { batchRequest, fieldsOf, lineOf, linesRequest } from './requests.ts'

interface BulkReading extends Beginning {
  timeMs: number
}

interface Way {
  request(sender: Sender, readings: readonly BulkReading[]): string
  /** Of each reading, where the answer tells it. */
  statusesOf(answer: Answer, readings: readonly BulkReading[]): (number | undefined)[]
}

const ways: [Way, ...Way[]] = [
  {
    request: ({ name, password }, readings) => batchRequest(name, password, '', ndjsonOf(readings)),
    statusesOf({ status, body }, readings) {
      // What an error says of a body that is stored while it comes in, it says of its end.
      if (status !== 200) return readings.map(() => (status < 500 && status !== 408 ? status : undefined))
      const { stored, rejected, rejects } = JSON.parse(body) as BatchAnswer
      const statuses = readings.map((): number | undefined => 200)
      for (const { line } of rejects) statuses[line - 1] = 400
      // Counts that do not add up tell nothing of a reading.
      return stored + rejected === readings.length && rejects.length === rejected
        ? statuses
        : readings.map(() => undefined)
    },
  },
  {
    request: ({ name, password }, readings) => batchRequest(name, password, '?strict=1', ndjsonOf(readings)),
    statusesOf: ({ status }, readings) => readings.map(() => status),
  },
  {
    request: ({ name, password }, readings) => linesRequest(name, password, readings.map(asLine).join('\n')),
    statusesOf({ status }, readings) {
      // 400 says that a part is stored.
      const ofAll = status === 204 ? 200 : status === 400 ? undefined : status
      return readings.map(() => ofAll)
    },
  },
]

interface BatchAnswer {
  stored: number
  rejected: number
  rejects: { line: number }[]
}

/** Readings with different times, of which those of the kind `bad` have to be rejected. */
export function bulkOf(sender: Sender, readings: readonly BulkReading[]): Outgoing {
  const way = sender.random.pick(ways)
  return {
    attempts: [...readings],
    request: way.request(sender, readings),
    statusesOf: answer => way.statusesOf(answer, readings),
  }
}

function ndjsonOf(readings: readonly BulkReading[]): string {
  const lines = readings.map(({ device, sequence, kind, timeMs }) => {
    const fields = fieldsOf(device, sequence, timeMs)
    return JSON.stringify(kind === 'bad' ? { ...fields, pressure: 'high' } : fields)
  })
  return lines.join('\n')
}

function asLine({ device, sequence, kind, timeMs }: BulkReading): string {
  const line = lineOf(device, sequence, timeMs)
  return kind === 'bad' ? line.replace('pressure=', 'pressure=x') : line
}
