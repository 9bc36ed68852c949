/** Figures by the device's purpose, which are read when the section is opened. */

import type { DomainFigures } from '../../../query/shapes/domain.ts'
import type { Stats } from '../../../query/shapes/stats.ts'
import { addressOf } from '../../client/address.ts'
import { lastValue } from '../../client/resource-state.ts'
import { useResource } from '../../client/use-resource.ts'
import { FailureBanner } from '../../parts/failure-banner.tsx'
import { Folded } from '../../parts/folded.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import type { Quantities } from '../../text/quantities.ts'
import { createTimes } from '../../theme/times.ts'
import { domainSentences } from './domain-sentences.ts'
import type { Measured } from './measured.ts'

const ofColdChain = 'Hours outside the limits, mean kinetic temperature, doors and defrosts'
const headings = {
  none: undefined,
  weather: ['Weather', 'Pressure at sea level, frost, dew and degree days'],
  indoor: ['Indoor air', 'Hours outside comfort, and hours with a risk of mould'],
  cold_chain: ['Cold chain', ofColdChain],
  pharmacy: ['Pharmacy refrigerator', ofColdChain],
  greenhouse: ['Greenhouse', 'Vapour-pressure deficit and dew on leaves'],
} as const

const everyMs = 600_000

export interface DomainSectionProps {
  readonly of: Measured
  readonly stats: Stats
  readonly quantities: Quantities
  /** The range of the figures. */
  readonly query: string
  /** The same in words. */
  readonly words: string
}

export function DomainSection({ of, stats, quantities, query, words }: DomainSectionProps) {
  const heading = headings[stats.profile ?? 'none']
  if (heading === undefined) return null
  const [title, summary] = heading
  return (
    <Folded id="domain" title={title} summary={`${summary} of ${words}.`}>
      {() => <Figures of={of} timeZone={stats.time_zone} quantities={quantities} query={query} />}
    </Folded>
  )
}

interface FiguresProps {
  readonly of: Measured
  readonly timeZone: string
  readonly quantities: Quantities
  readonly query: string
}

function Figures({ of, timeZone, quantities, query }: FiguresProps) {
  const state = useResource<DomainFigures>(addressOf(`/api/${of.pathOf('domain', query)}`), { everyMs })
  const figures = lastValue(state)
  return (
    <>
      <FailureBanner state={state} timeText={createTimes(timeZone).time} />
      {state.kind === 'loading' ? <Skeleton name="The figures are loading" rows={4} /> : null}
      {figures === undefined ? null : (
        <dl class="figures">
          {domainSentences(figures, quantities).map(([name, sentence]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{sentence}</dd>
            </div>
          ))}
        </dl>
      )}
      <p>
        <a href={addressOf('/docs/statistics#figures-by-profile')}>How they are computed</a>
      </p>
    </>
  )
}
