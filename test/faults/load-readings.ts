/** Readings of devices, by HTTP and MQTT: live, late, repeated and bad ones, idempotency keys, bulk bodies and imports. */

import type { Beginning, Kind } from './ledger.ts'
import { type CreateTraffic, type Outgoing, type Sender, statusesOfPart, type Traffic } from './load-traffic.ts'
import type { Answer } from './pipe.ts'
import {
  badBodies,
  batchRequest,
  fieldsOf,
  importRequest,
  lineOf,
  linesRequest,
  putRequest,
  webhookRequest,
} from './requests.ts'
import type { Random } from './seeded-random.ts'

/** Timestamps that a device has sent and may send again. */
interface Times {
  recent: number[]
  late: number[]
}

const dayMs = 86_400_000
/** A device repeats only recent times, so both requests are in flight at once. */
const recentMax = 12
/** Share of the requests of a sender that waits for its responses. */
const bulkShare = 0.05
const bulkReadingsMax = 30
const badShareOfBulk = 0.02
/** Share of the single readings of such a sender, if keys are enabled. */
const keyedShare = 0.1
/** Share of the good single readings by HTTP of such a sender. */
const webhookShare = 0.15

/** Chooses the kind of the next reading, with the shares of a fleet that has some trouble. */
function chooseKind(random: Random): { kind: Kind; again: boolean } {
  const draw = random.next()
  if (draw < 0.01) return { kind: 'bad', again: false }
  if (draw < 0.02) return { kind: 'wrong', again: false }
  if (draw < 0.1) return { kind: 'timed', again: false }
  if (draw < 0.16) return { kind: 'timed', again: true }
  if (draw < 0.19) return { kind: 'late', again: false }
  if (draw < 0.21) return { kind: 'late', again: true }
  return { kind: 'live', again: false }
}

/** Each late time is used once, except for deliberate repetitions. */
function lateTime(dayStartMs: number, used: number[]): number {
  return dayStartMs + Math.max(0, ...used.map(timeMs => timeMs % dayMs)) + 250
}

/** The last time or any: two requests in flight at once, or far apart. */
function usedTime(used: number[], random: Random): number | undefined {
  return random.chance(0.5) ? used.at(-1) : used[random.below(used.length)]
}

function freshTime(nowMs: number, used: number[]): number {
  return Math.max(nowMs, (used.at(-1) ?? 0) + 1)
}

function bodyOf({ name, random }: Sender, kind: Kind, sequence: number, timeMs: number | undefined): string {
  if (kind === 'bad') return random.pick(badBodies(name, sequence))
  return JSON.stringify(fieldsOf(name, sequence, timeMs))
}

function passwordOf({ password, revokedPassword }: Sender, kind: Kind): string {
  if (kind === 'wrong') return 'not-the-password'
  return kind === 'revoked' ? (revokedPassword ?? '') : password
}

function kindOf(sender: Sender, chosen: Kind, mayBeRefused: boolean): Kind {
  const { mqtt } = sender
  if (mqtt !== undefined) {
    // A connection keeps the password with which it was opened.
    if (mqtt.password !== sender.password) return 'revoked'
    return chosen === 'wrong' || (chosen === 'bad' && !mayBeRefused) ? 'live' : chosen
  }
  if (!mayBeRefused) return chosen === 'bad' || chosen === 'wrong' ? 'live' : chosen
  if (sender.revokedTurns === 0) return chosen
  sender.revokedTurns--
  return 'revoked'
}

function putOf(sender: Sender, attempt: Beginning, isKeyed: boolean): Outgoing {
  const { sequence, device, kind, timeMs } = attempt
  const key = isKeyed ? `key-${sequence}` : undefined
  return {
    attempts: [attempt],
    request: putRequest(device, passwordOf(sender, kind), bodyOf(sender, kind, sequence, timeMs), key),
    isRepeated: isKeyed,
    statusesOf: ({ status }) => [status],
  }
}

function webhookOf(sender: Sender, attempt: Beginning): Outgoing {
  const { sequence, device, kind, timeMs } = attempt
  return {
    attempts: [attempt],
    request: webhookRequest(device, passwordOf(sender, kind), sequence, timeMs),
    statusesOf: ({ status }) => [status],
  }
}

function publishOf(sender: Sender, attempt: Beginning): Outgoing {
  const { sequence, kind, timeMs } = attempt
  return {
    attempts: [attempt],
    request: bodyOf(sender, kind, sequence, timeMs),
    // MQTT 3.1.1 has no errors, so a reading that can never be stored is acknowledged, too.
    statusesOf: ({ status }) => [kind === 'bad' && sender.mqtt?.version === 4 ? 400 : status],
  }
}

export const createReadings: CreateTraffic = ({ importReadings = 500, keyed = false }, takeSequences): Traffic => {
  const lateFromMs = Math.floor(Date.now() / dayMs) * dayMs - dayMs
  const timesOf = new WeakMap<Sender, Times>()
  let imported = 0

  function timeOf(sender: Sender, kind: Kind, again: boolean): number | undefined {
    if (kind !== 'timed' && kind !== 'late') return undefined
    const times = timesOf.get(sender) ?? { recent: [], late: [] }
    timesOf.set(sender, times)
    const used = kind === 'timed' ? times.recent : times.late
    if (again && used.length > 0) return usedTime(used, sender.random)
    const timeMs =
      kind === 'timed' ? freshTime(Date.now(), used) : lateTime(lateFromMs - sender.random.below(2) * 2 * dayMs, used)
    used.push(timeMs)
    if (used.length > recentMax) used.shift()
    return timeMs
  }

  function nextBulk(sender: Sender): Outgoing {
    const { name: device, random } = sender
    const readings = Array.from({ length: 1 + random.below(bulkReadingsMax) }, () => {
      const kind = random.chance(0.2) ? 'late' : 'timed'
      const timeMs = timeOf(sender, kind, false) as number
      return { sequence: takeSequences(1), device, kind: random.chance(badShareOfBulk) ? 'bad' : kind, timeMs } as const
    })
    return bulkOf(sender, readings)
  }

  function next(sender: Sender, mayBeRefused: boolean): Outgoing {
    const { name: device, mqtt, random } = sender
    const mayBeBulk = mayBeRefused && mqtt === undefined && sender.revokedTurns === 0
    if (mayBeBulk && random.chance(bulkShare)) return nextBulk(sender)
    const { kind: chosen, again } = chooseKind(random)
    const kind = kindOf(sender, chosen, mayBeRefused)
    const timeMs = timeOf(sender, kind, again)
    const attempt = { sequence: takeSequences(1), device, kind, timeMs }
    if (mqtt !== undefined) return publishOf(sender, attempt)
    if (mayBeRefused && kind !== 'bad' && random.chance(webhookShare)) return webhookOf(sender, attempt)
    return putOf(sender, attempt, keyed && mayBeRefused && kind === 'live' && random.chance(keyedShare))
  }

  function nextImport({ name: device }: Sender, adminToken: string): Outgoing {
    // Every second import replaces half of the previous one.
    const from = imported % 2 === 0 ? imported * importReadings : (imported - 0.5) * importReadings
    imported++
    const firstSequence = takeSequences(importReadings)
    const attempts = Array.from({ length: importReadings }, (_, index) => ({
      sequence: firstSequence + index,
      device,
      kind: 'import' as const,
      timeMs: lateFromMs + 36_000_000 + (Math.floor(from) + index) * 10,
    }))
    const lines = attempts.map(({ sequence, timeMs }) => JSON.stringify(fieldsOf(device, sequence, timeMs)))
    return {
      attempts,
      request: importRequest(adminToken, lines.join('\n')),
      statusesOf: ({ status, body }) => {
        // Any other response may concern only a part of the body.
        const isWhole = status === 200 && JSON.parse(body).accepted === importReadings
        return attempts.map(() => (isWhole ? 200 : undefined))
      },
    }
  }

  return { next, nextImport }
}

interface BulkReading extends Beginning {
  timeMs: number
}

interface Way {
  request(sender: Sender, readings: readonly BulkReading[]): string
  statusesOf(answer: Answer, readings: readonly BulkReading[]): (number | undefined)[]
}

const ways: readonly Way[] = [
  {
    request: ({ name, password }, readings) => batchRequest(name, password, '', ndjsonOf(readings)),
    statusesOf({ status, body }, readings) {
      // An error for a body that is stored while it is received concerns only the rest of it.
      if (status !== 200) return readings.map(() => (status < 500 && status !== 408 ? status : undefined))
      const { rejects, ...counts } = JSON.parse(body) as BatchAnswer
      return statusesOfPart(
        readings,
        counts,
        rejects.map(({ line }) => line - 1),
      )
    },
  },
  {
    request: ({ name, password }, readings) => batchRequest(name, password, '?strict=1', ndjsonOf(readings)),
    statusesOf: ({ status }, readings) => readings.map(() => status),
  },
  {
    request: ({ name, password }, readings) => linesRequest(name, password, readings.map(asLine).join('\n')),
    // Status 400 reports a partial write.
    statusesOf: ({ status }, readings) =>
      readings.map(() => (status === 204 ? 200 : status === 400 ? undefined : status)),
  },
]

interface BatchAnswer {
  stored: number
  rejected: number
  rejects: { line: number }[]
}

/** Readings with different times. Those of the kind `bad` must be rejected. */
function bulkOf(sender: Sender, readings: readonly BulkReading[]): Outgoing {
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
