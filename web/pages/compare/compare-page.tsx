/** Two devices side by side: how they differ, and whether they go together. */

import './compare.css'
import type { LatestOfDevice } from '../../../query/live/fleet-shape.ts'
import { type TimeWindow, windowOf } from '../../charts/range.ts'
import { CustomDates, Presets } from '../../charts/range-controls.tsx'
import { minute, zoomedWindow, zoomTo } from '../../charts/use-range.ts'
import { addressOf, setArguments, urlArguments } from '../../client/address.ts'
import { lastValue, type ResourceState } from '../../client/resource-state.ts'
import { useTitle } from '../../client/tab.ts'
import { useKept, useResource, useRested } from '../../client/use-resource.ts'
import { DeviceField, MetricChooser } from '../../parts/fields.tsx'
import { PageFailure, Skeleton } from '../../parts/loading.tsx'
import { shownZone } from '../../text/preferences.ts'
import { airMetrics, chooseMetrics, type Descriptions, quantitiesOf } from '../../text/quantities.ts'
import { createTimes } from '../../text/times.ts'
import { createZone } from '../../text/zone.ts'
import { t, tn, tp } from '../../words/words.ts'
import { type ChosenLine, chartPath } from '../charts/chosen-lines.ts'
import { askedNames, type ComparePreset, type Comparison, comparedNames, customOf, hasHours } from './answers.ts'
import { ComparedMetric, ComparedState, HourFiles } from './compared.tsx'
import { comparedWindow } from './comparison-panels.ts'

const nameOfPreset: Record<ComparePreset, string> = {
  '24h': tn(24, '{count} hour', '{count} hours'),
  '3d': tn(3, '{count} day', '{count} days'),
  '7d': tn(7, '{count} day', '{count} days'),
  '30d': tn(30, '{count} day', '{count} days'),
  '90d': tn(90, '{count} day', '{count} days'),
  '365d': t('1 year'),
}

export function ComparePage() {
  const fields = urlArguments.value
  const [a, b] = [fields.get('a') ?? '', fields.get('b') ?? '']
  const asked = fields.get('preset') ?? ''
  const preset = Object.hasOwn(nameOfPreset, asked) ? (asked as ComparePreset) : '7d'
  useTitle(a === '' || b === '' ? t('Compare') : t('{a} and {b}', { a, b }))
  const compared = useComparison({ a, b, preset, window: zoomedWindow.value, chosen: fields.get('metrics') })
  return (
    <>
      <h1>{t('Compare')}</h1>
      <p class="lead">
        {tp('Two devices, in numbers. {link}', {
          link: <a href={addressOf(chartPath(linesOf([a, b])))}>{t('More devices or metrics in one chart')}</a>,
        })}
      </p>
      <div class="choice">
        <DeviceField label={t('First device')} value={a} onChoose={name => choose({ a: name })} />
        <DeviceField label={t('Second device')} value={b} onChoose={name => choose({ b: name })} />
        <Presets
          names={nameOfPreset}
          chosen={zoomedWindow.value === undefined ? preset : undefined}
          onChoose={name => choose({ preset: name })}
        />
      </div>
      {a === '' || b === '' ? (
        <p class="none-here">{t('Choose two devices.')}</p>
      ) : (
        <Outcome {...compared} preset={preset} chosen={fields.get('metrics')} />
      )}
    </>
  )
}

/** The first lines are of the metric that most devices have. */
function linesOf(devices: readonly string[]): ChosenLine[] {
  const named = new Set(devices.filter(device => device !== ''))
  return [...named].map(device => ({ metric: airMetrics[0], device }))
}

/** Each choice shows all chosen metrics. */
function choose(changes: Partial<Record<'a' | 'b' | 'preset', string>>): void {
  setArguments({ ...changes, from: undefined, to: undefined })
}

interface Shown {
  readonly preset: ComparePreset
  readonly chosen: string | null
}

function Outcome({ state, compared, ...shown }: ComparisonState & Shown) {
  if (state.kind === 'failed' && state.failure.kind === 'missing') {
    return <p class="none-here">{t('One of these devices does not exist, or it has been removed.')}</p>
  }
  const zone = compared === undefined ? 'UTC' : compared.comparison.time_zone
  return (
    <>
      <PageFailure state={state} timeText={createTimes(shownZone(zone)).time} />
      {compared !== undefined ? <Compared {...compared} {...shown} /> : null}
      {compared === undefined && state.kind !== 'failed' ? <Skeleton name={t('The comparison is loading')} /> : null}
    </>
  )
}

function Compared({ comparison, names, described, preset, chosen }: ComparedMetrics & Shown) {
  const zone = createZone(shownZone(comparison.time_zone))
  const times = createTimes(shownZone(comparison.time_zone))
  const quantities = quantitiesOf(described)
  const shownNames = chooseMetrics(names, chosen)
  const air = airMetrics.map(name => ({ name, metric: comparison[name] }))
  // A metric without values on both devices is left out. In a zoomed window such charts stay, since keys and pointer
  // act on them.
  const isKnown = (name: string) => zoomedWindow.value !== undefined && names.includes(name)
  const all = [...air.filter(({ name, metric }) => hasHours(metric) || isKnown(name)), ...customOf(comparison)]
  const compared = all.filter(({ name }) => shownNames.includes(name))
  const hours = compared.flatMap(({ metric }) => ('diff' in metric ? [metric] : []))
  const whole = comparedWindow(hours, preset)
  const window = zoomedWindow.value ?? whole
  const nowMs = minute.value
  const chooser = (
    <div class="section-head">
      <MetricChooser names={names} shown={shownNames} quantities={quantities} />
      <CustomDates shown={{ window: window ?? windowOf({ preset: '7d' }, nowMs), nowMs, zoomTo }} zone={zone} />
    </div>
  )
  if (window === undefined && hours.length === compared.length) {
    return (
      <>
        {chooser}
        <p class="none-here">{t('Neither has readings in this range.')}</p>
      </>
    )
  }
  const [a, b] = [comparison.a.device, comparison.b.device]
  return (
    <>
      <p class="lead">
        {tp('Hourly means in the range shown. For amounts, the increase or sum of each hour. {link}. Times: {zone}.', {
          link: <a href={addressOf('/docs/statistics#correlations')}>{t('How it is computed')}</a>,
          zone: times.zone,
        })}
      </p>
      {chooser}
      {compared.map(({ name, metric }) => {
        const shown = { name, quantity: quantities.of(name), a, b }
        if (!('diff' in metric)) return <ComparedState key={name} {...shown} metric={metric} />
        return window === undefined ? null : (
          <ComparedMetric
            key={name}
            {...{ ...shown, metric, zone, times, window }}
            onWindow={zoomTo}
            onReset={() => choose({})}
          />
        )
      })}
      {window === undefined ? null : (
        <HourFiles devices={a === b ? [a] : [a, b]} metrics={compared.map(({ name }) => name)} window={window} />
      )}
    </>
  )
}

const everyMs = 120_000

interface ComparedMetrics {
  readonly comparison: Comparison
  /** Names have the display order. */
  readonly names: readonly string[]
  readonly described: Descriptions
}

interface ComparisonState {
  /** The state of failed or stale answers. */
  readonly state: ResourceState<unknown>
  /** The last metrics stay until the answer for the chosen ones arrives. */
  readonly compared: ComparedMetrics | undefined
}

interface AskedComparison {
  readonly a: string
  readonly b: string
  readonly preset: ComparePreset
  /** Replaces the preset. */
  readonly window: TimeWindow | undefined
  /** Names with commas between them. */
  readonly chosen: string | null
}

const hourMs = 3_600_000

/** Reads nothing while one of the two is not named. */
function useComparison({ a, b, preset, window, chosen }: AskedComparison): ComparisonState {
  const range = useRested(rangeOf(preset, window))
  const hasBoth = a !== '' && b !== ''
  const latestOf = (name: string) => addressOf(`/api/latest/${encodeURIComponent(name)}`)
  const ofA = useResource<LatestOfDevice>(hasBoth ? latestOf(a) : undefined, { everyMs })
  const ofB = useResource<LatestOfDevice>(hasBoth ? latestOf(b) : undefined, { everyMs })
  const [latestA, latestB] = [lastValue(ofA), lastValue(ofB)]
  // The request waits for the last values, which show how many metrics exist.
  const url = latestA && latestB ? comparisonAddress(askedNames(latestA.values, latestB.values, chosen)) : undefined
  const state = useResource<Comparison>(url, { everyMs })
  const kept = useKept(state, JSON.stringify([a, b, preset]))
  // A window's answer lacks the hours of the preset and its end.
  const comparison = window === undefined && kept?.preset === null ? undefined : kept
  const compared = latestA &&
    latestB &&
    comparison && {
      comparison,
      names: comparedNames(latestA.values, latestB.values, comparison),
      described: { ...latestA.metrics, ...latestB.metrics, ...comparison.metrics },
    }
  return { state: [ofA, ofB].find(({ kind }) => kind === 'failed') ?? state, compared }

  function comparisonAddress(asked: string | undefined): string {
    const query = new URLSearchParams({ a, b })
    return addressOf(`/api/compare_data?${query}&${range}&t=1${asked === undefined ? '' : `&metrics=${asked}`}`)
  }
}

/** The hours that the window touches, or the hours of the preset. */
function rangeOf(preset: ComparePreset, window: TimeWindow | undefined): string {
  if (window === undefined) return `preset=${preset}`
  const [start, end] = [Math.floor(window.fromMs / hourMs) * hourMs, Math.ceil(window.toMs / hourMs) * hourMs]
  return `start=${start}&end=${end}`
}
