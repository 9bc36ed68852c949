/** Two devices side by side: how they differ, and whether they go together. */

import './compare.css'
import { useMemo } from 'preact/hooks'
import { Presets } from '../../charts/presets.tsx'
import { zoomedWindow, zoomTo } from '../../charts/zoom.ts'
import { addressOf, setArguments, urlArguments } from '../../client/address.ts'
import type { ResourceState } from '../../client/resource-state.ts'
import { useResource } from '../../client/use-resource.ts'
import { useTitle } from '../../client/use-title.ts'
import { PageFailure } from '../../parts/failure-banner.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { shownZone } from '../../text/preferences.ts'
import { airMetrics, quantitiesOf } from '../../text/quantities.ts'
import { createTimes } from '../../text/times.ts'
import { createZone } from '../../text/zone.ts'
import { type ComparePreset, type Comparison, furtherOf } from './answers.ts'
import { ComparedMetric } from './compared-metric.tsx'
import { ComparedState } from './compared-state.tsx'
import { type ComparedHours, comparedWindow } from './comparison-panels.ts'
import { DeviceField } from './device-field.tsx'
import { HourFiles } from './hour-files.tsx'

const everyMs = 120_000
const nameOfPreset: Record<ComparePreset, string> = {
  '24h': '24 hours',
  '3d': '3 days',
  '7d': '7 days',
  '30d': '30 days',
  '90d': '90 days',
  '365d': '1 year',
}

export function ComparePage() {
  const fields = urlArguments.value
  const [a, b] = [fields.get('a') ?? '', fields.get('b') ?? '']
  const asked = fields.get('preset') ?? ''
  const preset = Object.hasOwn(nameOfPreset, asked) ? (asked as ComparePreset) : '7d'
  useTitle(a === '' || b === '' ? 'Compare' : `${a} and ${b}`)
  const query = new URLSearchParams({ a, b, preset, t: '1' })
  const hasBoth = a !== '' && b !== ''
  const state = useResource<Comparison>(hasBoth ? addressOf(`/api/compare_data?${query}`) : undefined, { everyMs })
  return (
    <>
      <h1>Compare</h1>
      <form class="choice" onSubmit={event => event.preventDefault()}>
        <DeviceField label="First device" value={a} onChoose={name => choose({ a: name })} />
        <DeviceField label="Second device" value={b} onChoose={name => choose({ b: name })} />
        <Presets
          names={nameOfPreset}
          chosen={zoomedWindow.value === undefined ? preset : undefined}
          onChoose={name => choose({ preset: name })}
        />
      </form>
      {hasBoth ? <Outcome state={state} preset={preset} /> : <p class="none-here">Choose two devices.</p>}
    </>
  )
}

/** Each choice shows all of what is chosen. */
function choose(changes: Partial<Record<'a' | 'b' | 'preset', string>>): void {
  setArguments({ ...changes, from: undefined, to: undefined })
}

function Outcome({ state, preset }: { state: ResourceState<Comparison>; preset: ComparePreset }) {
  if (state.kind === 'loading') return <Skeleton name="The comparison is loading" />
  if (state.kind === 'failed') {
    const { failure } = state
    if (failure.kind === 'missing')
      return <p class="none-here">One of these devices does not exist, or it has been removed.</p>
    return <PageFailure state={state} timeText={createTimes(shownZone('UTC')).time} />
  }
  return (
    <>
      <PageFailure state={state} timeText={createTimes(shownZone(state.value.time_zone)).time} />
      <Compared comparison={state.value} preset={preset} />
    </>
  )
}

function Compared({ comparison, preset }: { comparison: Comparison; preset: ComparePreset }) {
  const zone = useMemo(() => createZone(shownZone(comparison.time_zone)), [comparison.time_zone])
  const times = useMemo(() => createTimes(shownZone(comparison.time_zone)), [comparison.time_zone])
  const quantities = quantitiesOf(comparison.metrics)
  const always = airMetrics.map(name => ({ name, metric: comparison[name] }))
  // Of those, one that neither device has says nothing.
  const compared = [...always.filter(({ metric }) => hasHours(metric)), ...furtherOf(comparison)]
  const hours = compared.flatMap(({ metric }) => ('diff' in metric ? [metric] : []))
  const whole = comparedWindow(hours, preset)
  if (whole === undefined && hours.length === compared.length) {
    return <p class="none-here">Neither has readings in this range.</p>
  }
  const [a, b] = [comparison.a.device, comparison.b.device]
  const window = zoomedWindow.value ?? whole
  return (
    <>
      <p class="lead">
        Hourly means, and of amounts the increase or the sum of each hour.{' '}
        <a href={addressOf('/docs/statistics#correlations')}>How it is computed</a>. Times: {times.zone}.
      </p>
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

const hasHours = ({ a, b }: Pick<ComparedHours, 'a' | 'b'>) => a.length + b.length > 0
