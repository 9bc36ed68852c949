/**
 * Feeds rules on suspect readings with the suspect share of a full hour. Three hours of stored readings are read once for all devices
 * of these rules, and a whole day for devices that three hours do not clear: some devices at a time.
 */

import { setImmediate as turn } from 'node:timers/promises'
import type { AlertReadings } from '../../query/alerts/alert-queries.ts'
import type { AlertDevices, ReadAlertReadings } from '../core/devices.ts'
import type { Rule } from '../core/rule.ts'
import {
  type DeviceQuality,
  hourMs,
  SuspectScreen,
  type SuspectWindow,
  suspectMetrics,
  suspectShare,
  suspectWindowMs,
} from '../core/suspect-share.ts'
import type { EngineRun } from './engine-run.ts'
import type { RuleCoverage } from './rule-coverage.ts'
import { askOf } from './stored-replay.ts'

export interface SuspectParts {
  readonly run: Pick<EngineRun, 'observe'>
  readonly coverage: Pick<RuleCoverage, 'devicesOf'>
  readonly devices: AlertDevices
  readonly readings: ReadAlertReadings
  readonly signal: AbortSignal
}

export interface SuspectLimits {
  /** Devices that are read together. */
  readonly devicesPerRead: number
  readonly rowsPerRead: number
  /** A device with more readings a day is not judged. */
  readonly rowsMax: number
}

/** A row with five metrics takes 48 bytes. */
const usualLimits: SuspectLimits = { devicesPerRead: 200, rowsPerRead: 500_000, rowsMax: 4_000_000 }
/** Other work gets a turn after so many devices or rows. A day takes a millisecond. */
const devicesPerTurn = 8
const rowsPerTurn = 10_000

export interface JudgedHour {
  readonly beginMs: number
  /** Time at which the hour counts. */
  readonly atMs: number
}

/** Returns the numbers of devices with too many readings. Rejects while QuestDB is unavailable. */
export async function observeSuspects(
  judged: JudgedHour,
  rules: readonly Rule[],
  parts: SuspectParts,
  limits: SuspectLimits = usualLimits,
): Promise<readonly number[]> {
  const hour = new SuspectHour(judged, rules, parts)
  if (hour.devices.length === 0) return []
  const suspected = await hour.screen()
  const unknown: number[] = []
  for (const devices of hour.readTogether(suspected, limits)) {
    if (!(await hour.lookAt(devices, limits.rowsMax))) unknown.push(...devices)
  }
  return unknown
}

/** A rule with the columns that it looks at. */
interface Judging {
  readonly rule: number
  readonly columns: readonly number[]
}

class SuspectHour {
  readonly #beginMs: number
  readonly #atMs: number
  readonly #parts: SuspectParts
  readonly #metrics: readonly string[]
  readonly #rulesOf = new Map<number, Judging[]>()
  /** Three hours, by the number of the device. */
  readonly #rows = new Map<number, number>()
  readonly devices: readonly number[]

  constructor({ beginMs, atMs }: JudgedHour, rules: readonly Rule[], parts: SuspectParts) {
    this.#beginMs = beginMs
    this.#atMs = atMs
    this.#parts = parts
    const ofSuspects = rules.flatMap(({ id, condition }) => (condition.kind === 'suspect' ? [{ id, condition }] : []))
    this.#metrics = [...new Set(ofSuspects.flatMap(({ condition }) => suspectMetrics(condition)))]
    for (const { id, condition } of ofSuspects) {
      const columns = suspectMetrics(condition).map(metric => this.#metrics.indexOf(metric))
      for (const device of parts.coverage.devicesOf(id)) {
        const judging = this.#rulesOf.get(device) ?? []
        this.#rulesOf.set(device, judging)
        judging.push({ rule: id, columns })
      }
    }
    this.devices = [...this.#rulesOf.keys()]
  }

  get #endMs(): number {
    return this.#beginMs + hourMs
  }

  #read(devices: readonly number[], fromMs: number) {
    const { devices: registry, readings, signal } = this.#parts
    return readings(askOf({ devices, metrics: this.#metrics, fromMs, toMs: this.#endMs }, registry), signal)
  }

  async #readScreen(): Promise<SuspectScreen> {
    const places = new Map(this.devices.map((device, place) => [device, place]))
    const screen = new SuspectScreen(this.#beginMs, this.devices.length, this.#metrics.length)
    for await (const { device, timesUs, values, length } of this.#read(this.devices, screen.fromMs)) {
      for (let row = 0; row < length; row++) {
        if (row % rowsPerTurn === rowsPerTurn - 1) await this.#turn()
        const number = device[row] as number
        const place = places.get(number) as number
        this.#rows.set(number, (this.#rows.get(number) ?? 0) + 1)
        for (let column = 0; column < values.length; column++) {
          screen.take(place, column, (timesUs[row] as number) / 1000, values[column]?.[row] as number)
        }
      }
    }
    return screen
  }

  /** Observes the certain shares, and returns the devices whose day has to be read. */
  async screen(): Promise<number[]> {
    const screen = await this.#readScreen()
    const suspected: number[] = []
    for (const [place, device] of this.devices.entries()) {
      if (place % devicesPerTurn === 0) await this.#turn()
      const quality = this.#qualityOf(device)
      if (quality === undefined) continue
      const shares = this.#judgings(device).map(({ columns }) => screen.share(place, columns, quality))
      this.#observe(device, shares)
      this.#rulesOf.set(
        device,
        this.#judgings(device).filter((_, index) => shares[index] === undefined),
      )
      if (shares.includes(undefined)) suspected.push(device)
    }
    return suspected
  }

  async #turn(): Promise<void> {
    await turn()
    this.#parts.signal.throwIfAborted()
  }

  #judgings(device: number): readonly Judging[] {
    return this.#rulesOf.get(device) as Judging[]
  }

  #qualityOf(device: number): DeviceQuality | undefined {
    return this.#parts.devices.qualityOf(device, this.#metrics)
  }

  /** Each rule has a share. An undefined one is observed later. */
  #observe(device: number, shares: readonly (number | undefined)[]): void {
    for (const [index, { rule }] of this.#judgings(device).entries()) {
      const share = shares[index]
      if (share !== undefined) this.#parts.run.observe(rule, device, { kind: 'hour', hourMs: this.#atMs, share })
    }
  }

  /** A day has about eight times as many rows as three hours. */
  *readTogether(devices: readonly number[], { devicesPerRead, rowsPerRead }: SuspectLimits): Generator<number[]> {
    let [together, rows]: [number[], number] = [[], 0]
    for (const device of devices) {
      const more = (this.#rows.get(device) ?? 0) * (suspectWindowMs / (3 * hourMs))
      if (together.length > 0 && (together.length === devicesPerRead || rows + more > rowsPerRead)) {
        yield together
        together = []
        rows = 0
      }
      together.push(device)
      rows += more
    }
    if (together.length > 0) yield together
  }

  /** False where they have more rows than that. */
  async lookAt(devices: readonly number[], rowsMax: number): Promise<boolean> {
    const windows = await readWindows(this.#read(devices, this.#endMs - suspectWindowMs), rowsMax)
    if (windows === undefined) return false
    for (const [index, device] of devices.entries()) {
      if (index % devicesPerTurn === 0) await this.#turn()
      const window = windows.get(device)
      const quality = this.#qualityOf(device)
      if (window === undefined || quality === undefined) continue
      const shareOf = ({ columns }: Judging) => {
        const values = columns.map(column => window.values[column] as Float64Array)
        const limits = columns.map(column => quality.limits[column] as DeviceQuality['limits'][number])
        return suspectShare({ timesMs: window.timesMs, values }, this.#beginMs, { ...quality, limits })
      }
      this.#observe(device, this.#judgings(device).map(shareOf))
    }
    return true
  }
}

/** Keys are the numbers of devices. Undefined beyond `rowsMax`. Rejects while QuestDB is unavailable. */
async function readWindows(
  pieces: AsyncIterable<AlertReadings>,
  rowsMax: number,
): Promise<ReadonlyMap<number, SuspectWindow> | undefined> {
  const windows = new Map<number, { readonly timesMs: number[]; readonly values: readonly number[][] }>()
  let rows = 0
  for await (const { device, timesUs, values, length } of pieces) {
    rows += length
    if (rows > rowsMax) return undefined
    for (let row = 0; row < length; row++) {
      const number = device[row] as number
      const window = windows.get(number) ?? { timesMs: [], values: values.map(() => []) }
      windows.set(number, window)
      window.timesMs.push((timesUs[row] as number) / 1000)
      for (const [column, of] of values.entries()) window.values[column]?.push(of[row] as number)
    }
  }
  const columnsOf = ({ timesMs, values }: { timesMs: number[]; values: readonly number[][] }): SuspectWindow => {
    return { timesMs: Float64Array.from(timesMs), values: values.map(column => Float64Array.from(column)) }
  }
  return new Map([...windows].map(([number, window]) => [number, columnsOf(window)]))
}
