/** A rose of the frequency of each point of the compass. */

import type { WindowFigures } from '../../../query/shapes/kinds.ts'
import { SmallChart } from '../../charts/small-charts.tsx'
import { compassPoints } from '../../text/compass.ts'
import { percent } from '../../text/phrases.ts'
import type { Quantity } from '../../text/quantities.ts'

type RoseFigures = Extract<WindowFigures, { kind: 'direction' }>['rose']

const [centreX, centreY, radius, height] = [180, 122, 94, 244]
/** Sectors are narrower than they could be, so that each is seen. */
const widthShare = 0.86

export function Rose({ quantity, rose }: { quantity: Quantity; rose: RoseFigures }) {
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
      title={`How often it is each direction${calm_share === null ? '' : `; calm ${percent(calm_share)}`}`}
      label={`Rose of ${quantity.name}, most often ${summary.join(', ')}.`}
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
      {['N', 'E', 'S', 'W'].map((point, quarter) => (
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
