/** QuestDB, external or managed. */

import { StartError } from '../start-error.ts'
import type { StoreOptions } from '../store-options.ts'
import { parseQuestdbAddress, type QuestdbAddress } from './client/questdb-address.ts'
import type { ContentCheck } from './content-guard.ts'
import { type HourlyView, watchHourlyView } from './hourly-view.ts'
import { findJava, mavenEnvironment, questdbJar } from './java.ts'
import { monitorQuestdb, type QuestdbMonitor, type QuestdbState } from './questdb-monitor.ts'
import { planQuestdb, startQuestdb, stopQuestdbLeftBehind } from './questdb-server.ts'
import { differences, managedSettings, type Parameter } from './questdb-settings.ts'

export interface Questdb {
  address: QuestdbAddress
  /** Started and stopped by this service. False for an external one. */
  managed: boolean
  /** Resolves when QuestDB is first reachable with our tables and, if managed, with our settings in effect. */
  ready: Promise<void>
  state(): QuestdbState
  /** Adds a check that must pass each time QuestDB comes up, and each second. The result triggers it at once. */
  guard(check: ContentCheck): () => void
  /**
   * True when reads are allowed: by its state while that is up and checked, else by an immediate probe with the content check.
   */
  answers(): boolean | Promise<boolean>
  /** `sync` when applied rows are on disk. Undefined until QuestDB was reached. */
  commitMode(): string | undefined
  version(): string | undefined
  hourlyView: Pick<HourlyView, 'validThroughTxn' | 'markSuspect'>
}

export interface OpenQuestdb extends Questdb {
  java: string | undefined
  close(): Promise<void>
}

export function openQuestdb(options: StoreOptions, signal: AbortSignal): Promise<OpenQuestdb> {
  const { questdbHttp, questdbPg } = options
  return questdbHttp === undefined && questdbPg === undefined ? openManaged(options, signal) : openExternal(options)
}

/** An outage does not prevent the start: readings are accepted, and QuestDB is probed until it answers. */
async function openExternal(options: StoreOptions): Promise<OpenQuestdb> {
  await stopQuestdbLeftBehind(options.directory, options.log)
  return openGivenQuestdb(options)
}

/** Further replicas store nothing on this machine. */
export function openGivenQuestdb(
  options: Pick<StoreOptions, 'questdbHttp' | 'questdbPg' | 'leavesHourlyView' | 'log'>,
): OpenQuestdb {
  const { questdbHttp, questdbPg, leavesHourlyView = false, log } = options
  const address = parseQuestdbAddress(questdbHttp, questdbPg)
  const name = `QuestDB at ${address.http.host}:${address.http.port}`
  const checkSettings = (parameters: ReadonlyMap<string, Parameter>): void => {
    const commitMode = parameters.get('cairo.commit.mode')?.value
    if (commitMode !== 'sync') log.warn({ commitMode }, `${name} does not sync its commits: a power cut may lose some`)
  }
  const monitor = monitorQuestdb({ address, name, retryMsMax: 5000, startsNow: false, checkSettings, log })
  const watched = leavesHourlyView ? withoutHourlyView(monitor) : withHourlyView(monitor, address, log)
  return { ...watched, address, managed: false, java: undefined }
}

async function openManaged(options: StoreOptions, signal: AbortSignal): Promise<OpenQuestdb> {
  const { directory, environment, cacheDirectory, leavesHourlyView = false, log } = options
  const java = await findJava(environment, cacheDirectory)
  const maven = mavenEnvironment(environment, java, cacheDirectory)
  const jar = await questdbJar({ cacheDirectory, environment: maven, log, signal })
  const managed = await planQuestdb(directory, { commitMode: options.questdbCommitMode, pgPort: options.questdbPgPort })
  signal.throwIfAborted()
  const checkSettings = (parameters: ReadonlyMap<string, Parameter>): void => {
    const found = differences(managedSettings(managed), parameters)
    if (found.length > 0) {
      throw new StartError(
        `QuestDB does not use the settings that Barograph configured: ${found.join('; ')}. Report this.`,
      )
    }
  }
  const { address } = managed
  const monitor = monitorQuestdb({
    address,
    name: 'QuestDB',
    retryMsMax: 200,
    startsNow: true,
    checkSettings,
    log,
    monotonicMs: options.monotonicMs,
    onSilent() {
      log.warn({ silentSeconds: 60 }, 'QuestDB runs but does not answer')
      void server.restart()
    },
  })
  const { markAway: onEnd, fail: onFailure } = monitor
  const watched = leavesHourlyView ? withoutHourlyView(monitor) : withHourlyView(monitor, address, log)
  const server = startQuestdb({ directory, environment, java, jar, managed, log, onEnd, onFailure })
  async function close(): Promise<void> {
    await Promise.all([watched.close(), server.close()])
  }
  return { ...watched, address, managed: true, java: java.version, close }
}

function withoutHourlyView(monitor: QuestdbMonitor) {
  return { ...monitor, hourlyView: { validThroughTxn: () => undefined, markSuspect: () => undefined } }
}

/**
 * Ready after the first check of the view. A view ahead of its table reveals lost transactions, but only until new rows are sent.
 */
function withHourlyView(monitor: QuestdbMonitor, address: QuestdbAddress, log: StoreOptions['log']) {
  const isUp = monitor.isReachable
  const hourlyView = watchHourlyView({ address, ready: monitor.ready, isUp, log })
  const ready = hourlyView.checked
  // Callers that await it get the error. An unawaited rejection must not end the process.
  ready.catch(() => undefined)
  async function close(): Promise<void> {
    await Promise.all([monitor.close(), hourlyView.close()])
  }
  return { ...monitor, ready, hourlyView, close }
}
