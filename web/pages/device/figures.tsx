/** Figures of a range: by the kinds of metrics, and by the device's purpose. */

import type { DomainFigures } from '../../../query/shapes/domain.ts'
import type { WindowFigures } from '../../../query/shapes/kinds.ts'
import type { PastDays } from '../../../query/shapes/past.ts'
import type { Stats } from '../../../query/shapes/stats.ts'
import { SmallChart } from '../../charts/small-charts.tsx'
import { TableTwin } from '../../charts/table-twin.tsx'
import { addressOf } from '../../client/address.ts'
import { lastValue } from '../../client/resource-state.ts'
import { useResource } from '../../client/use-resource.ts'
import { Folded } from '../../parts/folded.tsx'
import { FailureBanner, Skeleton } from '../../parts/loading.tsx'
import { Definitions } from '../../parts/record.tsx'
import { compassPoints, quarterPoints } from '../../text/kind-words.ts'
import { percent } from '../../text/phrases.ts'
import { nameWithin, type Quantities, type Quantity } from '../../text/quantities.ts'
import { createTimes } from '../../text/times.ts'
import { t, tp } from '../../words/words.ts'
import type { AnalysesWords } from './analyses-range.ts'
import { type Measured, windowFiguresOf } from './answers.ts'
import { domainSentences } from './domain-sentences.ts'
import { dayAmountSentences, kindSentences } from './kind-sentences.ts'
import { kindTables } from './kind-tables.ts'
import type { ShownMetric } from './shown-metrics.ts'

interface KindsSectionProps {
  readonly stats: Stats
  readonly past: PastDays | undefined
  readonly metrics: readonly ShownMetric[]
  readonly quantities: Quantities
  readonly words: AnalysesWords
}

/** Renders nothing for a device that has gauges only. */
export function KindsSection({ stats, past, metrics, quantities, words }: KindsSectionProps) {
  const shown = metrics.filter(({ name }) => windowFiguresOf(stats, name) !== undefined)
  if (shown.length === 0) return null
  return (
    <section class="card" aria-labelledby="kinds">
      <h2 id="kinds">{t('Amounts, directions and states')}</h2>
      <p class="lead">
        {tp('Totals of counters and rates, mean directions, and durations of states ({link}).', {
          link: <a href={addressOf('/docs/statistics#custom-metrics')}>{t('how it is computed')}</a>,
        })}
      </p>
      {shown.map(({ name }) => (
        <MetricFigures key={name} {...{ name, stats, past, words }} quantity={quantities.of(name)} />
      ))}
    </section>
  )
}

interface MetricFiguresProps extends Pick<KindsSectionProps, 'stats' | 'past' | 'words'> {
  name: string
  quantity: Quantity
}

function MetricFigures({ name, quantity, stats, past, words }: MetricFiguresProps) {
  const figures = windowFiguresOf(stats, name)
  if (figures === undefined) return null
  const isAmount = figures.kind === 'counter' || figures.kind === 'rate'
  const { during } = words
  const sentences = [
    ...(isAmount && past !== undefined ? dayAmountSentences(past, name, quantity) : []),
    ...kindSentences(figures, quantity, { during, isTruncated: stats.window.truncated }),
  ]
  const tables = kindTables(figures, quantity)
  return (
    <div class="seasonality">
      <h3>{quantity.name}</h3>
      <p class="summary-text">{sentences.join(' ')}</p>
      {figures.kind === 'direction' ? (
        <div class="small-charts">
          <Rose quantity={quantity} rose={figures.rose} />
        </div>
      ) : null}
      {tables.every(({ rows }) => rows.length === 0) ? null : (
        <TableTwin name={t('figures of {name}', { name: nameWithin(quantity) })} tables={() => tables} />
      )}
    </div>
  )
}

type RoseFigures = Extract<WindowFigures, { kind: 'direction' }>['rose']

const [centreX, centreY, radius, height] = [180, 122, 94, 244]
/** Sectors are narrower than they could be, so that each is seen. */
const widthShare = 0.86

function Rose({ quantity, rose }: { quantity: Quantity; rose: RoseFigures }) {
  const { sector_counts, count, calm_share } = rose
  const most = Math.max(...sector_counts)
  if (most === 0 || count === 0) return null
  const shares = sector_counts.map((sector, place) => ({ point: compassPoints[place], share: sector / count }))
  const summary = shares
    .toSorted((a, b) => b.share - a.share)
    .slice(0, 3)
    .map(({ point, share }) => `${point} ${percent(share)}`)
  return (
    <SmallChart
      title={
        calm_share === null
          ? t('How often it is each direction')
          : t('How often it is each direction; calm {share}', { share: percent(calm_share) })
      }
      label={t('Rose of {name}, most often {list}.', { name: quantity.name, list: summary.join(', ') })}
      height={height}
    >
      {[0.5, 1].map(part => (
        <circle key={part} class="ring" cx={centreX} cy={centreY} r={radius * part} />
      ))}
      {sector_counts.map((sector, place) => (
        <path
          key={compassPoints[place]}
          class="sector"
          d={wedge((360 / sector_counts.length) * place, (360 / sector_counts.length) * widthShare, sector / most)}
        />
      ))}
      {quarterPoints.map((point, quarter) => (
        <text key={point} text-anchor="middle" {...at(90 * quarter, radius + 13)} dy="4">
          {point}
        </text>
      ))}
      <text class="ring-label" {...at(33.75, radius + 4)} dy="2">
        {percent(most / count)}
      </text>
    </SmallChart>
  )
}

/** Clockwise from north. */
function at(degrees: number, distance: number): { x: number; y: number } {
  const angle = (degrees * Math.PI) / 180
  return { x: centreX + distance * Math.sin(angle), y: centreY - distance * Math.cos(angle) }
}

function wedge(degrees: number, width: number, share: number): string {
  const [from, to] = [at(degrees - width / 2, radius * share), at(degrees + width / 2, radius * share)]
  const spot = ({ x, y }: { x: number; y: number }) => `${x.toFixed(1)} ${y.toFixed(1)}`
  const arc = (radius * share).toFixed(1)
  return `M${centreX} ${centreY}L${spot(from)}A${arc} ${arc} 0 0 1 ${spot(to)}z`
}

const ofColdChain = t('Hours outside the limits, mean kinetic temperature, doors and defrosts')
const headings = {
  none: undefined,
  weather: [t('Weather'), t('Pressure at sea level, frost, dew and degree days')],
  indoor: [t('Indoor air'), t('Hours outside comfort, and hours with a risk of mould')],
  cold_chain: [t('Cold chain'), ofColdChain],
  pharmacy: [t('Pharmacy refrigerator'), ofColdChain],
  greenhouse: [t('Greenhouse'), t('Vapour-pressure deficit and dew on leaves')],
} as const

const everyMs = 600_000

interface DomainSectionProps {
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
    <Folded id="domain" title={title} summary={t('{summary} of {words}.', { summary, words })}>
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
      {state.kind === 'loading' ? <Skeleton name={t('The figures are loading')} rows={4} /> : null}
      {figures === undefined ? null : <Definitions class="figures" entries={domainSentences(figures, quantities)} />}
      <p>
        <a href={addressOf('/docs/statistics#figures-by-profile')}>{t('How they are computed')}</a>
      </p>
    </>
  )
}
