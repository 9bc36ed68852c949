/** Entry point of this folder: rules on readings and silence, their alerts, and notifications. */

import type pg from 'pg'
import { createLocalTime } from '../analytics/time/local-time.ts'
import type { MailTransport } from '../auth/mail/mail-transport.ts'
import type { ChangeFeed } from '../auth/nodes/change-feed.ts'
import type { Live } from '../query/live/live.ts'
import type { Log } from '../store/log.ts'
import type { Transaction } from '../store/postgres/transaction.ts'
import type { AlertRow } from './core/alert.ts'
import { bounds, type Waits } from './core/bounds.ts'
import type { Fact } from './core/condition.ts'
import type { AlertDevices, ReadAlertReadings } from './core/devices.ts'
import { groupValue } from './core/rule.ts'
import { createDelivery, type Delivery, type DeliveryOptions } from './delivery/delivery.ts'
import { kindOf } from './delivery/kinds/kinds.ts'
import { EngineHost, type EngineHostOptions, type EngineHostState } from './engine/engine-host.ts'
import type { TakenReadings } from './engine/packed-readings.ts'
import type { BatteryDays, UnusualShifts } from './engine/periodic-feeds.ts'
import type { Coverage } from './engine/rule-coverage.ts'
import { type ErasedDevices, forgetErased, openErasedMails } from './outbox/erased-devices.ts'
import { createOutbox } from './outbox/outbox.ts'
import { type AlertSilences, createAlertSilences } from './outbox/silence-rows.ts'
import { createAlertSweep } from './outbox/sweep.ts'
import { createPreview, type Preview } from './preview/preview.ts'
import { type AlertList, createAlertList, createAlertListeners } from './store/alerts.ts'
import { applyTransitions } from './store/apply.ts'
import { readEngineRow, readPairs, writeEvaluatedUntil } from './store/pairs.ts'
import { type AlertRules, createAlertRules } from './store/rules.ts'

export interface AlertsOptions {
  pool: pg.Pool
  log: Log
  nowMs: () => number
  timeZone: string
  publicUrl: () => string
  feed: ChangeFeed
  /** True if this process evaluates rules and sends notifications for all processes. */
  leads: () => boolean
  /** Rejects unless this process leads at the time of the transaction. */
  requireLead: (transaction: Transaction) => Promise<void>
  /** Reports a rule to operators that was disabled because its evaluation threw. */
  noteSetAside: (rule: number, error: Error) => Promise<void>
  devices: AlertDevices
  /** Loads the data that `devices.mayRead` needs of an account. Resolves to a text that changes with it. */
  learnOwner: (account: number) => Promise<string>
  live: Pick<Live, 'latest' | 'silenceOf' | 'hourShareOf'>
  /** Subscribes to durable readings. `onMissed` is called when readings were not passed on. */
  onStored: (
    listener: (readings: TakenReadings & { readonly place?: { readonly receiptMs: number } | undefined }) => void,
    onMissed: () => void,
  ) => void
  /** True while no readings are accepted, or readings of other nodes are missing here. */
  isOut: () => boolean
  /** True once QuestDB answers and the state of the fleet is loaded. */
  isSettled: () => boolean
  /** The returned function is true once QuestDB shows all readings that were accepted before this call. */
  markTaken: () => () => boolean
  readings: ReadAlertReadings
  /** Service facts, such as a full disk. */
  facts: () => Promise<readonly Fact[]>
  batteryDays: BatteryDays
  unusualShifts: UnusualShifts
  /** The symbol of a metric's unit. */
  unitOf: (metric: string) => string | null
  deliver: Omit<DeliveryOptions, 'pool' | 'log' | 'nowMs' | 'timeZone' | 'publicUrl' | 'leads' | 'requireLead'>
  removeMails: MailTransport['removeWritten']
  waits?: Partial<Waits>
  pairsMax?: number
  /** ALERT_PAIRS_PER_OWNER */
  pairsPerOwner?: number
}

export interface Alerts extends Pick<Delivery, 'channels' | 'deliveries' | 'unsubscribing'> {
  rules: AlertRules
  silences: AlertSilences
  alerts: AlertList
  preview: Preview
  /** Number of devices that a rule covers. Undefined where this process does not evaluate it. */
  coverageOf(rule: number): Coverage | undefined
  /** Calls the listener after each commit with the changed alerts, including commits of other processes. */
  onAlert(listener: (alerts: readonly AlertRow[]) => void): void
  meter: AlertMeter
  /**
   * No alert, event, state or notification has their values, nor a notification their names, and no mail about their alerts is in a file.
   * Rejects as PostgreSQL does when it is away.
   */
  forgetErased(devices: ErasedDevices): Promise<void>
  /** Resolves when accepted readings are evaluated and committed, and running deliveries have ended. */
  close(): Promise<void>
}

interface AlertMeter {
  engine(): EngineHostState
  /** Notifications that were given up as too many waited. */
  givenUp(): number
  delivery: Delivery['meter']
}

/** Synchronous, so that its listener is there before the first reading. */
export function openAlerts(options: AlertsOptions): Alerts {
  const { pool, log, nowMs, feed, leads, requireLead, devices, publicUrl, timeZone, live } = options
  const waits: Waits = { ...usualWaits, ...options.waits }
  const { offsetMs } = createLocalTime(timeZone)
  const shared = { pool, log, nowMs, feed, leads, requireLead, publicUrl, timeZone, waits, offsetMs, devices }
  const delivery = createDelivery({ ...options.deliver, ...shared })
  const deviceOf = (number: number) => devices.byNumber(number)
  const groupValueOf = (groupBy: string | null, device: number) => groupValue(groupBy, deviceOf(device)?.tags ?? [])
  const groupKeys = new Map<number, string | null>()
  const outbox = createOutbox({
    ...shared,
    deviceOf,
    unitOf: options.unitOf,
    backlog: () => host.backlog(),
    kindOf,
    delivered: delivery.wake,
  })
  const rules = createAlertRules({
    ...shared,
    groupValueOf,
    wake: outbox.wake,
    refusalOf: (rule, owner, id) => (host.hasRoomFor({ ...rule, owner }, id) ? undefined : 'TOO_MANY_PAIRS'),
  })
  const listeners = createAlertListeners({ feed, log, byIds: ids => alerts.byIds(ids) })
  const alerts = createAlertList({ ...shared, changed: listeners.changed })
  const sweep = createAlertSweep(shared)
  const mails = openErasedMails({ ...shared, removeMails: options.removeMails })
  const host = new EngineHost({
    ...options,
    async readRules() {
      const all = await rules.all()
      for (const { id, group_by } of all) groupKeys.set(id, group_by)
      return all
    },
    readVersions: rules.versions,
    async disableRule(rule, error) {
      await rules.disable(rule, 'alerts')
      await options.noteSetAside(rule, error)
    },
    store: createEngineStore(shared, {
      groupValueOf: (rule, device) => groupValueOf(groupKeys.get(rule) ?? null, device),
      committed(alertIds) {
        listeners.changed(alertIds)
        outbox.wake()
      },
    }),
  })
  rules.onChange(() => host.rulesChanged())
  options.onStored(
    readings => host.take(readings, readings.place?.receiptMs ?? nowMs()),
    () => host.missed(),
  )
  const preview = createPreview({ ...shared, readings: options.readings, silenceOf: live.silenceOf })
  return {
    rules,
    channels: delivery.channels,
    silences: createAlertSilences({ ...shared, wake: outbox.wake }),
    alerts,
    deliveries: delivery.deliveries,
    unsubscribing: delivery.unsubscribing,
    preview: withOwner(preview, options.learnOwner),
    coverageOf: rule => host.coverageOf(rule),
    onAlert: listeners.onAlert,
    async forgetErased(erased) {
      await host.eraseValues(erased.numbers, erased.metric, () => forgetErased(shared, erased).then(listeners.changed))
      await mails.removeEverywhere()
    },
    meter: { engine: () => host.state(), givenUp: outbox.givenUp, delivery: delivery.meter },
    async close() {
      await preview.close()
      await host.close()
      await Promise.all([outbox.close(), sweep.close(), delivery.close(), mails.close()])
      await listeners.close()
    },
  }
}

const { groupWaitMs, groupIntervalMs, repeatMs } = bounds
const usualWaits: Waits = { groupWaitMs, groupIntervalMs, repeatMs }

interface EngineCommits {
  groupValueOf: (rule: number, device: number) => string
  committed: (alertIds: readonly number[]) => void
}

function createEngineStore(
  shared: Pick<AlertsOptions, 'pool' | 'nowMs' | 'feed' | 'requireLead'> & { waits: Waits },
  { groupValueOf, committed }: EngineCommits,
): EngineHostOptions['store'] {
  const { pool, nowMs, requireLead } = shared
  return {
    readRow: () => readEngineRow(pool),
    readPairs: () => readPairs(pool),
    async apply({ evaluatedUntilMs, ...batch }) {
      const until = evaluatedUntilMs === undefined ? {} : { evaluatedUntilMs }
      const applied = await applyTransitions(pool, { ...shared, ...batch, ...until, nowMs: nowMs(), groupValueOf })
      committed(applied.alertIds)
      return { unknownRules: applied.unknownRules }
    },
    writeEvaluatedUntil: evaluatedUntilMs => writeEvaluatedUntil(pool, { evaluatedUntilMs, requireLead }),
  }
}

/** The caller has checked the owner's permissions. */
function withOwner(preview: Preview, learnOwner: AlertsOptions['learnOwner']): Preview {
  return {
    ...preview,
    async run(asked, signal) {
      if (asked.owner.account !== null) await learnOwner(asked.owner.account)
      return await preview.run(asked, signal)
    },
  }
}
