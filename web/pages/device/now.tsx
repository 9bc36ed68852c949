/** The last value of each metric, large, with its age. */

import type { BuiltInMetric } from '../../../live/fleet-shape.ts'
import { builtInNames, builtInQuantities, numberText } from '../../text/quantities.ts'
import { serverNowMs } from '../../client/clock.ts'
import { ageText } from '../../text/times.ts'
import { isOld } from './age.ts'
import type { LastValues } from './answers.ts'

export interface NowProps {
  readonly values: LastValues
  readonly expectedSeconds: number | null
  /** In the zone of the service, for a tooltip. */
  readonly exact: (ms: number) => string
}

export function Now({ values, expectedSeconds, exact }: NowProps) {
  const shown = builtInNames.filter(metric => values[metric] !== undefined)
  if (shown.length === 0) return <p class="now-none">There is no reading yet. The first one appears here by itself.</p>
  return (
    <dl class="now">
      {shown.map(metric => (
        <Value
          key={metric}
          metric={metric}
          expectedSeconds={expectedSeconds}
          exact={exact}
          {...(values[metric] as { v: number; ts: number })}
        />
      ))}
    </dl>
  )
}

interface ValueProps extends Omit<NowProps, 'values'> {
  metric: BuiltInMetric
  v: number
  ts: number
}

function Value({ metric, v, ts, expectedSeconds, exact }: ValueProps) {
  const ageMs = serverNowMs.value - ts
  const quantity = builtInQuantities.of(metric)
  const { name, unit } = quantity
  const number = numberText(v, quantity)
  const isStale = isOld(ageMs, expectedSeconds)
  return (
    <div class={isStale ? 'old' : ''}>
      <dt>{name}</dt>
      <dd>
        <span class="number">
          {number} <span class="unit">{unit}</span>
        </span>
        <span class="age" title={exact(ts)}>
          {ageText(ageMs)}
        </span>
      </dd>
    </div>
  )
}
