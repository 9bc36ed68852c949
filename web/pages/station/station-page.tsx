/** One air-quality station: the page of a device, of its points. */

import './station.css'
import { useMemo } from 'preact/hooks'
import type { PublicStation } from '../../../api/read/stations/station-shape.ts'
import type { StationLatest, StationUnits } from '../../../query/shapes/station.ts'
import { signOf } from '../../../store/metrics/units.ts'
import { useRange } from '../../charts/use-range.ts'
import { addressOf, signInAddress } from '../../client/address.ts'
import { lastValue, type ResourceState } from '../../client/resource-state.ts'
import { useTitle } from '../../client/tab.ts'
import { useKept, useResource, useRested } from '../../client/use-resource.ts'
import { StateBadge } from '../../parts/marks.tsx'
import { Definitions } from '../../parts/record.tsx'
import { decimalText } from '../../text/numbers.ts'
import { listed } from '../../text/phrases.ts'
import type { Quantities } from '../../text/quantities.ts'
import { t, tn, tp, words } from '../../words/words.ts'
import { type Measured, measuredStation } from '../device/answers.ts'
import { MeasuredPage } from '../device/measured-page.tsx'
import { readingPresets } from '../device/readings.tsx'

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
      {about === undefined ? null : <Definitions class="station-facts" entries={stationFacts(about)} />}
    </>
  )
}

function UnknownStation({ sn }: { sn: string }) {
  return (
    <>
      <h1>{t('No such station')}</h1>
      <p>
        {tp(
          'There is no station {name} here, or it has been removed. A private one is shown to its owner and to administrators: {link}.',
          { name: <strong>{sn}</strong>, link: <a href={signInAddress()}>{t('sign in')}</a> },
        )}
      </p>
    </>
  )
}

/** The left-out points of the shown range, with reasons. */
function LeftOut({ units, quantities }: { units: StationUnits | undefined; quantities: Quantities }) {
  const sentences = units === undefined ? [] : leftOutSentences(units, quantities)
  return sentences.length === 0 ? null : <p class="lead left-out">{sentences.join(' ')}</p>
}

/** Empty where all are shown. */
function leftOutSentences({ units }: StationUnits, quantities: Quantities): string[] {
  const parts = Object.entries(units).flatMap(([parameter, { unit, left_out }]) => {
    const points = Object.entries(left_out).map(([other, count]) =>
      tn(count, '{count} point in {unit}', '{count} points in {unit}', { unit: signOf(other) }),
    )
    if (points.length === 0) return []
    return [
      t('{name}: {list}, while {unit} is shown.', {
        name: quantities.of(parameter).name,
        list: listed(points),
        unit: signOf(unit),
      }),
    ]
  })
  if (parts.length === 0) return []
  return [
    t(
      'Points in a unit that cannot be converted to the shown one are left out: between a mixing ratio and a mass concentration, that takes the temperature and the pressure of the air.',
    ),
    ...parts,
  ]
}

interface RangeUnits {
  readonly state: ResourceState<StationUnits>
  /** The earlier range's units while the current ones load: a range that ends now is a new one each minute. */
  readonly units: StationUnits | undefined
}

/** Units of the points in the shown range. */
function useRangeUnits(of: Measured): RangeUnits {
  const { window } = useRange(readingPresets)
  const query = `start=${Math.floor(window.fromMs)}&end=${Math.ceil(window.toMs)}`
  const rested = useRested(addressOf(`/api/${of.pathOf('units', query)}`))
  const state = useResource<StationUnits>(rested)
  return { state, units: useKept(state, of.name) }
}

const countries = new Intl.DisplayNames(words.language, { type: 'region', fallback: 'code' })

/** `Delhi, India: on the roof`; empty where nothing is known. */
function stationPlace({ city, country, location }: PublicStation): string {
  const town = [city, country === null ? null : countries.of(country)].filter(Boolean).join(', ')
  return [town, location ?? ''].filter(text => text !== '').join(': ')
}

function stationFacts(station: PublicStation): [name: string, text: string][] {
  const { model, outdoors, latitude, longitude, timezone } = station
  const facts: [string, string][] = [[t('Model'), model]]
  if (outdoors !== null) facts.push([t('Place'), outdoors ? t('outdoors') : t('indoors')])
  if (latitude !== null && longitude !== null) facts.push([t('Coordinates'), coordinates(latitude, longitude)])
  facts.push([t('Time zone'), timezone])
  facts.push([t('Shown to'), station.private ? t('its owner and administrators') : t('everybody who may read here')])
  return facts
}

/** `28.6257° N, 77.2090° E`, to some ten metres. */
function coordinates(latitude: number, longitude: number): string {
  const text = (degrees: number, [positive, negative]: readonly [string, string]) =>
    `${decimalText(Math.abs(degrees), 4)}°\u202f${degrees < 0 ? negative : positive}`
  return `${text(latitude, ['N', 'S'])}, ${text(longitude, [t('E'), 'W'])}`
}
