/** One air-quality station: the page of a device, of its points. */

import './station.css'
import { useMemo } from 'preact/hooks'
import type { PublicStation } from '../../../api/read/stations/station-shape.ts'
import type { StationLatest } from '../../../query/shapes/station.ts'
import { addressOf, signInAddress } from '../../client/address.ts'
import { lastValue } from '../../client/resource-state.ts'
import { useResource } from '../../client/use-resource.ts'
import { useTitle } from '../../client/use-title.ts'
import { StateBadge } from '../../parts/state-badge.tsx'
import { measuredStation } from '../device/measured.ts'
import { MeasuredPage } from '../device/measured-page.tsx'
import { LeftOut } from './left-out.tsx'
import { stationFacts, stationPlace } from './station-facts.ts'
import { useRangeUnits } from './use-range-units.ts'

export function StationPage({ sn }: { sn: string }) {
  useTitle(sn)
  const of = useMemo(() => measuredStation(sn), [sn])
  const about = useResource<PublicStation>(addressOf(`/api/stations/${encodeURIComponent(sn)}`))
  const { state, units } = useRangeUnits(of)
  return (
    <MeasuredPage<StationLatest>
      of={of}
      others={[about, state]}
      head={latest => <Head sn={sn} latest={latest} about={lastValue(about)} />}
      unknown={() => <UnknownStation sn={sn} />}
      aboveCharts={quantities => <LeftOut {...{ units, quantities }} />}
    />
  )
}

interface HeadProps {
  sn: string
  latest: StationLatest | undefined
  about: PublicStation | undefined
}

function Head({ sn, latest, about }: HeadProps) {
  const place = about === undefined ? '' : stationPlace(about)
  return (
    <>
      <div class="device-head">
        <h1>{sn}</h1>
        {latest === undefined ? null : <StateBadge state={latest.state} />}
        {place === '' ? null : <p class="place">{place}</p>}
      </div>
      {about === undefined ? null : (
        <dl class="station-facts">
          {stationFacts(about).map(({ name, text }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  )
}

function UnknownStation({ sn }: { sn: string }) {
  return (
    <>
      <h1>No such station</h1>
      <p>
        There is no station <strong>{sn}</strong> here, or it has been removed. A private one is shown to its owner and
        to administrators: <a href={signInAddress()}>sign in</a>.
      </p>
    </>
  )
}
