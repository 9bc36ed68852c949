/** Selects some of many metrics, kept in the page's address. */

import { setArguments } from '../client/address.ts'
import { shownMax } from '../text/chosen-metrics.ts'
import type { Quantities } from '../text/quantities.ts'

export interface MetricChooserProps {
  readonly names: readonly string[]
  readonly shown: readonly string[]
  readonly quantities: Quantities
}

/** Renders nothing while all metrics are shown. */
export function MetricChooser({ names, shown, quantities }: MetricChooserProps) {
  if (names.length <= shownMax) return null
  const choose = (name: string) => {
    const next = names.filter(other => (other === name) !== shown.includes(other))
    setArguments({ metrics: next.join(',') }, { replace: true })
  }
  return (
    <details class="chooser">
      <summary>
        {shown.length} of {names.length} metrics are shown
      </summary>
      <fieldset>
        <legend class="unseen">Metrics</legend>
        {names.map(name => (
          <label key={name}>
            <input type="checkbox" checked={shown.includes(name)} onChange={() => choose(name)} />
            {quantities.of(name).name}
          </label>
        ))}
      </fieldset>
    </details>
  )
}
