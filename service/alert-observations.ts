/** Observations for rules of alerts: facts of the service, days that batteries have left, and unusual gauges. */

import type { Fact } from '../alerts/core/condition.ts'
import type { BatteryDays, UnusualShifts } from '../alerts/engine/periodic-feeds.ts'
import { shiftOf } from '../analytics/unusual/unusual.ts'
import { type AnalysedMetrics, customMetrics } from '../api/read/custom-metrics.ts'
import type { Devices } from '../auth/devices/devices.ts'
import type { Ingest, PointsIngest } from '../ingest/ingest.ts'
import type { TopicState } from '../ingest/kafka/state/watch.ts'
import type { Analyses } from '../query/analyses/create-analyses.ts'
import type { Insights as FleetInsights } from '../query/insights.ts'
import type { Replicas } from '../query/replicas.ts'
import { Insights } from '../query/shapes/insights.ts'
import { UnusualValues } from '../query/shapes/unusual.ts'
import type { Questdb } from '../store/questdb/questdb.ts'
import { type QuestdbReplica, replicaPrefix } from '../store/questdb/questdb-replicas.ts'
import { metrics as columns } from '../store/tables.ts'
import type { DiskUse } from './lifecycle/disk/disk-use.ts'

export interface AlertFactsOptions {
  replicas: readonly QuestdbReplica<Pick<Questdb, 'state'>>[]
  readReplicas: Pick<Replicas, 'behindMs'>
  ingest: Pick<Ingest, 'status'>
  pointsIngest: Pick<PointsIngest, 'status'>
  /** Kafka topics that serve as journals; undefined with journals on disk. */
  topicStates?: (() => TopicState[]) | undefined
  diskUse: Pick<DiskUse, 'read'>
  nowMs: () => number
}

const hourMs = 3_600_000

/** Called several times a minute. */
export function createAlertFacts(options: AlertFactsOptions): () => Promise<readonly Fact[]> {
  const { replicas, readReplicas, ingest, pointsIngest, topicStates, diskUse, nowMs } = options
  let awaySinceMs: number | undefined
  let steps = ingest.status().clock.steps
  const steppedMs: number[] = []

  function questdbAway(): Fact {
    const away = replicas.filter(({ questdb }) => questdb.state().state !== 'up')
    awaySinceMs = away.length === 0 ? undefined : (awaySinceMs ?? nowMs())
    const seconds = awaySinceMs === undefined ? 0 : Math.max(1, Math.round((nowMs() - awaySinceMs) / 1000))
    const text = away
      .map(replica => replicaPrefix(replicas, replica) + (replica.questdb.state().reason ?? ''))
      .join('; ')
    return { fact: 'questdb_away', value: seconds, text }
  }

  /** The lags of the journals describe the most advanced replica. Others may be later. */
  function forwardingLate(): Fact {
    const topics = topicStates?.() ?? []
    const replicaMs = [...readReplicas.behindMs(), ...topics.map(({ unforwardedMs }) => unforwardedMs)]
    const lags = [ingest.status().lag.seconds, pointsIngest.status().lag.seconds, ...replicaMs.map(ms => ms / 1000)]
    const problems = topics.flatMap(({ problems }) => problems)
    const text = problems.find(({ kind }) => kind === 'unforwarded')?.text ?? ''
    return { fact: 'forwarding_late', value: Math.round(Math.max(...lags)), text }
  }

  function deadLetters(): Fact {
    const count = ingest.status().forwarder.deadLetters + pointsIngest.status().forwarder.deadLetters
    return { fact: 'dead_letters', value: count, text: '' }
  }

  function journalFull(): Fact {
    const shares = [ingest.status(), pointsIngest.status()].map(({ journal }) => journal.bytes / journal.bytesMax)
    // The retention of a topic bounds it.
    shares.push(...(topicStates?.() ?? []).map(({ share = 0 }) => share))
    return { fact: 'journal_full', value: Math.max(...shares), text: ingest.status().journal.issue ?? '' }
  }

  function clockStepped(): Fact {
    const { clock } = ingest.status()
    for (; steps < clock.steps; steps++) steppedMs.push(nowMs())
    while ((steppedMs[0] ?? nowMs()) < nowMs() - hourMs) steppedMs.shift()
    return { fact: 'clock_stepped', value: steppedMs.length, text: '' }
  }

  async function diskFull(): Promise<Fact> {
    const { daysUntilFull } = await diskUse.read()
    return { fact: 'disk_full', value: daysUntilFull ?? Number.POSITIVE_INFINITY, text: '' }
  }

  return async () => [questdbAway(), forwardingLate(), deadLetters(), journalFull(), clockStepped(), await diskFull()]
}

export function createBatteryDays(
  insights: Pick<FleetInsights, 'of'>,
  registry: Pick<Devices, 'byNumber'>,
): BatteryDays {
  return async (asked, signal) => {
    const devices = asked.flatMap(({ number }) => registry.byNumber(number) ?? [])
    const answer = await insights.of(devices, signal)
    if (!answer.ok) throw new Error(`the days that batteries have left are not known: ${answer.code}`)
    const { batteries, batteries_low } = Insights.parse(JSON.parse(answer.body.bytes.toString('utf8')))
    const numbers = new Map(devices.map(({ name, number }) => [name, number]))
    const left = new Map<number, number>()
    for (const { device, low } of batteries) {
      const number = numbers.get(device)
      // With several batteries, the first to be empty counts.
      if (number !== undefined) left.set(number, Math.min(low, left.get(number) ?? low))
    }
    // Below 15 % a battery may end on any day.
    for (const device of batteries_low) {
      const number = numbers.get(device)
      if (number !== undefined) left.set(number, 0)
    }
    return left
  }
}

export function createUnusualShifts(
  query: Pick<Analyses, 'unusual'>,
  registry: Pick<Devices, 'byNumber'>,
  metrics: AnalysedMetrics,
): UnusualShifts {
  return async (asked, metric, signal) => {
    const shifts = new Map<number, number>()
    const devices = asked.flatMap(({ number }) => registry.byNumber(number) ?? [])
    await Promise.all(
      devices.map(async device => {
        const custom = customMetrics(metrics, device, columns, [metric])
        const answer = await query.unusual(device, { custom }, signal)
        if (!answer.ok) throw new Error(`whether ${metric} is unusual is not known: ${answer.code}`)
        const values = UnusualValues.parse(JSON.parse(answer.body.bytes.toString('utf8'))) as Record<string, unknown>
        const { status, value, expected } = values[metric] as UnusualValues['temperature']
        if (status !== 'ok') return
        const [low, high] = expected ?? [null, null]
        const isUnusual = value !== null && low !== null && high !== null
        shifts.set(device.number, isUnusual ? shiftOf({ value, expected: [low, high] }) : 0)
      }),
    )
    return shifts
  }
}
