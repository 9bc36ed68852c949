/**
 * `stats_data` against a Python script that fetches the same rows and computes the same figures by pandas, scipy,
 * statsmodels and astropy: in turns, each device once, uncached, the median of the pairs. Every figure is compared, of
 * devices with five metrics and with three. Then it prints the most expensive functions, a line each, against the
 * script's times.
 *
 * Usage: node bench/stats.ts [--python path] [--pairs 7]
 */

import { parseArgs } from 'node:util'
import { median } from 'simple-statistics'
import { airMetrics } from '../query/series.ts'
import { metrics } from '../store/tables.ts'
import { startBench } from './bounds.ts'
import { ask, type MadeDevice, type MadeFleet, startMadeFleet } from './made-fleet.ts'
import { ratios, round, sleep, spread } from './measure.ts'
import { type Reference, startReference } from './reference-process.ts'
import { measureFunctions } from './stats-functions.ts'
import type { BenchStore } from './store.ts'

const { values: options } = parseArgs({
  options: { python: { type: 'string', default: 'python3' }, pairs: { type: 'string', default: '7' } },
})
const pairs = Number(options.pairs)
/** The first turns let the compiler find hot code. */
const warmUps = 3
const days = 30
const stepMs = 60_000
const timeZone = 'Europe/Berlin'
const five = { names: metrics, ratioMin: 8 }
/** Excludes the script's Lomb–Scargle. */
const ratioMinWithout = 4
const three = { names: airMetrics, ratioMin: 5 }
/** A pair must begin early enough to end in the same minute, because some figures belong to a full minute. */
const minuteMs = 60_000
const pairMs = 30_000

const { hooks, bounds, run } = startBench()

interface ReferenceAnswer {
  total_ms: number
  parts_ms: Record<string, number>
  slow_acf_ms: number | null
  figures: { seasonality: Record<string, { peaks: unknown[] }> }
}

interface Figures {
  seasonality: ReferenceAnswer['figures']['seasonality']
  correlations: { pairs: readonly { a: string; b: string }[] }
}

async function untilMinuteIsYoung(): Promise<void> {
  const leftMs = minuteMs - (Date.now() % minuteMs)
  if (leftMs < pairMs) await sleep(leftMs)
}

type Metrics = typeof five | typeof three

async function askReference(
  reference: Reference,
  store: BenchStore,
  { device }: MadeDevice,
  { names }: Metrics,
  isLast: boolean,
) {
  const { host, port, authorization } = store.questdb.http
  const [row] = await store.query(`SELECT cast(max(ts) AS LONG) FROM readings WHERE device = '${device.symbol}'`)
  const throughUs = Number(row?.[0])
  const answer = await reference.ask({
    symbol: device.symbol,
    questdb: `http://${host}:${port}`,
    authorization,
    from_us: throughUs - days * 86_400_000_000,
    through_us: throughUs,
    now_us: Math.floor(Date.now() / minuteMs) * minuteMs * 1000,
    time_zone: timeZone,
    step_seconds: stepMs / 1000,
    metrics: names,
    slow_acf: isLast,
  })
  return answer as ReferenceAnswer
}

/** A cycle that does not stand out of the noise may be another one there: only significant ones are the same. */
function comparable({ figures }: ReferenceAnswer, ours: ReferenceAnswer['figures']): object {
  const seasonality = Object.entries(figures.seasonality).map(([metric, figure]) => {
    const [peak] = ours.seasonality[metric]?.peaks ?? []
    const { peaks, ...rest } = figure
    return [metric, (peak as { significant?: boolean } | undefined)?.significant === true ? figure : rest]
  })
  return { ...figures, seasonality: Object.fromEntries(seasonality) }
}

/** The service lists the pairs of metrics without a value, too. */
function ofMetrics(figures: Figures, { names }: Metrics): Figures {
  const known: readonly string[] = [...names, 'dew_point']
  const { pairs, ...correlations } = figures.correlations
  const kept = pairs.filter(({ a, b }) => known.includes(a) && known.includes(b))
  return { ...figures, correlations: { ...correlations, pairs: kept } }
}

interface Pairs {
  readonly ours: number[]
  readonly theirs: ReferenceAnswer[]
  readonly deviations: Record<string, number>
}

async function bench(): Promise<void> {
  const reference = await startReference(hooks, options.python, 'stats.py')
  const kind = { count: warmUps + pairs, days: days + 1, stepMs }
  const kinds = [kind, { ...kind, isWithoutBattery: true }]
  const { store, service, made } = await startMadeFleet(hooks, kinds, 0, { TIME_ZONE: timeZone })
  const [devices = [], withoutBattery = []] = made
  const ofFive = await measure({ service, store, reference }, devices, five)
  const ofThree = await measure({ service, store, reference }, withoutBattery, three)
  note('times the script, five metrics', ofFive, five.ratioMin)
  note('times the script, three metrics', ofThree, three.ratioMin)
  conclude(reference, ofFive)
  const partsMs = Object.keys(ofFive.theirs[0]?.parts_ms ?? {}).map(part => {
    return [part, median(ofFive.theirs.map(({ parts_ms }) => parts_ms[part] ?? Number.NaN))]
  })
  const [first] = devices
  if (first !== undefined) measureFunctions(first, days, timeZone, Object.fromEntries(partsMs))
}

interface Sides extends Pick<MadeFleet, 'service' | 'store'> {
  readonly reference: Reference
}

async function measure(
  { service, store, reference }: Sides,
  devices: readonly MadeDevice[],
  of: Metrics,
): Promise<Pairs> {
  const ours: number[] = []
  const theirs: ReferenceAnswer[] = []
  const deviations: Record<string, number> = {}
  for (const [turn, device] of devices.entries()) {
    await untilMinuteIsYoung()
    const askOurs = () => ask(service, `stats_data/${device.path}`)
    const askTheirs = () => askReference(reference, store, device, of, of === five && turn === devices.length - 1)
    // The second query finds its rows in the page cache, so the order alternates.
    let our = turn % 2 === 0 ? await askOurs() : undefined
    const their = await askTheirs()
    our ??= await askOurs()
    const figures = ofMetrics(JSON.parse(our.text), of)
    for (const [name, off] of Object.entries(compareFigures(figures, comparable(their, figures)))) {
      deviations[name] = Math.max(deviations[name] ?? 0, off)
    }
    if (turn < warmUps) continue
    ours.push(our.ms)
    theirs.push(their)
  }
  return { ours, theirs, deviations }
}

/**
 * The ratios with and without astropy's Lomb–Scargle, which takes most of the script's time. Our time always includes
 * the search for cycles.
 */
function note(name: string, { ours, theirs, deviations }: Pairs, ratioMin: number): void {
  const off = Object.fromEntries(Object.entries(deviations).filter(([, off]) => off > 0))
  const line = (of: string, least: number, timeOf: (answer: ReferenceAnswer) => number, more: object = {}) => {
    const referenceMs = theirs.map(timeOf)
    const times = ratios(referenceMs, ours)
    const spreads = { ratios: spread(times), ms: spread(ours), referenceMs: spread(referenceMs) }
    bounds.atLeast(of, median(times), least, { ...spreads, ...more })
  }
  line(name, ratioMin, ({ total_ms }) => total_ms, { deviations: off })
  const withoutScargle = ({ total_ms, parts_ms }: ReferenceAnswer) => total_ms - (parts_ms['lomb_scargle'] ?? 0)
  line(`${name}, without its Lomb–Scargle`, ratioMinWithout, withoutScargle)
}

function conclude(reference: Reference, { theirs }: Pairs): void {
  const slowAcfMs = theirs.findLast(({ slow_acf_ms }) => slow_acf_ms !== null)?.slow_acf_ms ?? Number.NaN
  bounds.conclude({
    bench: 'stats',
    days,
    pairs,
    /** statsmodels' autocorrelation with gaps for one metric, which the ratio leaves out. */
    referenceSlowAcfMs: round(slowAcfMs),
    versions: reference.versions,
  })
}

/** The tolerance of a figure: absolute, or a share of the reference. Figures without a row must be equal. */
type Tolerance = { readonly absolute: number } | { readonly relative: number }

const tolerances: Record<string, Tolerance> = {
  ...kind({ relative: 1e-12 }, 'mean', 'min', 'max', 'median', 'p05', 'p95', 'p10', 'p90', 'weekly_profile'),
  ...kind({ relative: 1e-10 }, 'std', 'tw_mean'),
  ...kind({ absolute: 1e-9 }, 'acf', 'band95', 'band95_white', 'lag_r', 'uptime', 'completeness'),
  ...kind({ relative: 1e-9 }, 'jitter_seconds', 'jitter_p95_seconds', 'gap_threshold_seconds', 'downtime_seconds'),
  ...kind({ absolute: 1e-10 }, 'pearson', 'spearman', 'r_deseasonalised'),
  ...kind({ relative: 1e-8 }, 'n_eff', 'p_value', 'spearman_p_value', 'ci95'),
  ...kind({ relative: 1e-9 }, 'slope_per_day'),
  ...kind({ relative: 1e-5 }, 'period_hours'),
  ...kind({ absolute: 1e-8 }, 'power'),
  ...kind({ relative: 1e-6 }, 'fap'),
  ...kind({ absolute: 1e-6 }, 'daily', 'trend'),
}

function kind(tolerance: Tolerance, ...names: string[]): Record<string, Tolerance> {
  return Object.fromEntries(names.map(name => [name, tolerance]))
}

/** Returns the largest deviation by figure. Throws if a figure is missing or exceeds its tolerance. */
function compareFigures(ours: unknown, reference: unknown): Record<string, number> {
  const largest: Record<string, number> = {}
  for (const { name, path, our, their } of figuresOf(ours, reference, '', 'answer')) {
    const { off, max } = deviationOf(our, their, tolerances[name])
    if (!(off <= max)) throw new Error(`${path} is ${our}, the reference says ${their}`)
    largest[name] = Math.max(largest[name] ?? 0, off)
  }
  return largest
}

interface Figure {
  readonly name: string
  readonly path: string
  readonly our: unknown
  readonly their: unknown
}

function* figuresOf(our: unknown, their: unknown, name: string, path: string): Generator<Figure> {
  if (typeof their !== 'object' || their === null) {
    yield { name, path, our, their }
    return
  }
  const ours = (our ?? {}) as Record<string, unknown>
  for (const [key, value] of Object.entries(their)) {
    // Values in an array share its name.
    yield* figuresOf(ours[key], value, Array.isArray(their) ? name : key, `${path}.${key}`)
  }
}

function deviationOf(our: unknown, their: unknown, tolerance: Tolerance | undefined): { off: number; max: number } {
  if (typeof our !== 'number' || typeof their !== 'number' || tolerance === undefined) {
    return { off: our === their ? 0 : Number.POSITIVE_INFINITY, max: 0 }
  }
  const distance = Math.abs(our - their)
  if ('absolute' in tolerance) return { off: distance, max: tolerance.absolute }
  return { off: distance === 0 ? 0 : distance / Math.abs(their), max: tolerance.relative }
}

await run(bench)
