/** The devices of a view of the fleet, on a map or as cards, as large as they fit; of many, a page of cards after the other. */

import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import type { FleetDevice } from '../../query/live/fleet-shape.ts'
import { urlArguments } from '../client/address.ts'
import { serverNowMs } from '../client/clock.ts'
import { lastValue } from '../client/resource-state.ts'
import { useSize } from '../client/screen.ts'
import { numberedStates } from '../pages/fleet/fleet-devices.ts'
import { type Fleet, openFleet } from '../pages/fleet/fleet-list.ts'
import { mapArguments, readTags, readView, shownDevices } from '../pages/fleet/fleet-view.ts'
import { lazy, Skeleton } from '../parts/loading.tsx'
import { FiringMark, StateBadge } from '../parts/marks.tsx'
import { deviceStates, kindText } from '../text/kind-words.ts'
import { shownZone } from '../text/preferences.ts'
import { type Quantities, quantitiesOf, withNumbered } from '../text/quantities.ts'
import { ageText, createTimes } from '../text/times.ts'
import { countText, t, tn } from '../words/words.ts'
import { fitCards } from './fit-cards.ts'
import { WallFrame } from './wall-frame.tsx'

const WallMap = lazy(t('map'), () => import('./wall-map.tsx').then(module => module.WallMap))

export function WallFleet({ name }: { name: string }) {
  const [fleet, setFleet] = useState<Fleet>()
  useEffect(() => {
    const opened = openFleet(readTags(urlArguments.peek()))
    setFleet(opened)
    return opened.close
  }, [])
  return fleet === undefined ? null : <Devices fleet={fleet} name={name} />
}

function Devices({ fleet, name }: { fleet: Fleet; name: string }) {
  const state = fleet.first.value
  const times = createTimes(shownZone(lastValue(state)?.time_zone ?? 'UTC'))
  const view = readView(urlArguments.value)
  const devices = shownDevices(fleet.devices.value, view)
  const metrics = fleet.metrics.value
  const quantities = withNumbered(quantitiesOf(metrics), numberedStates(devices, metrics))
  const counts = fleet.counts.value
  const isKnown = counts !== undefined
  return (
    <WallFrame {...{ name, state, times }} summary={isKnown ? summaryOf(devices, fleet.isComplete.value) : null}>
      {!isKnown ? (
        <Skeleton name={t('The fleet is loading')} />
      ) : view.isMap ? (
        <WallMap filter={mapArguments(view, fleet.tags)} changes={JSON.stringify(counts)} />
      ) : (
        <Cards {...{ devices, quantities }} />
      )}
    </WallFrame>
  )
}

/** `8 devices: 1 silent, 7 fresh.` */
function summaryOf(devices: readonly FleetDevice[], isComplete: boolean): string {
  const counts = deviceStates.map(state => [state, devices.filter(device => device.state === state).length] as const)
  const parts = counts.filter(([, count]) => count > 0).map(([state, count]) => `${countText(count)} ${state}`)
  const loading = isComplete ? '' : t(', more are loading')
  return devices.length === 0
    ? ''
    : `${tn(devices.length, '{count} device', '{count} devices')}: ${parts.join(', ')}${loading}.`
}

function Cards({ devices, quantities }: { devices: readonly FleetDevice[]; quantities: Quantities }) {
  const { place, size } = useSize()
  const { fontPx, columns, perPage } = fitCards(devices.length, size.width, size.height)
  const { page, pages, isPaused } = useTurning(Math.ceil(devices.length / perPage))
  const shown = devices.slice(page * perPage, (page + 1) * perPage)
  const range = t('{low} to {high}', {
    low: countText(page * perPage + 1),
    high: countText(page * perPage + shown.length),
  })
  return (
    <>
      <div class="wall-cards" ref={place}>
        <ul style={{ fontSize: `${fontPx}px`, gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}>
          {size.width === 0
            ? null
            : shown.map(device => <Card key={device.device} device={device} quantities={quantities} />)}
        </ul>
        {devices.length === 0 ? <p class="none-here">{t('No device matches this view.')}</p> : null}
      </div>
      {pages < 2 ? null : (
        <p class="wall-pages">
          {t('Devices {range} of {count}', { range, count: countText(devices.length) })}
          {isPaused ? t('. Paused: Space goes on') : null}
        </p>
      )}
    </>
  )
}

function Card({ device, quantities }: { device: FleetDevice; quantities: Quantities }) {
  const { device: name, location_short: place, state, last_seen: lastSeen, values } = device
  return (
    <li class={`wall-card ${state}-card`}>
      <h2>
        {name}
        <FiringMark device={name} />
      </h2>
      <p class="wall-place">{place}</p>
      <p class="wall-state">
        <StateBadge state={state} /> <Age lastSeen={lastSeen} />
      </p>
      <dl>
        {Object.entries(values).map(([metric, value]) => (
          <div key={metric}>
            <dt>{quantities.of(metric).name}</dt>
            <dd>{kindText(value as number, quantities.of(metric))}</dd>
          </div>
        ))}
      </dl>
    </li>
  )
}

function Age({ lastSeen }: { lastSeen: number | null }) {
  return <span>{lastSeen === null ? t('no reading yet') : ageText(serverNowMs.value - lastSeen)}</span>
}

const everyMs = 15_000

interface Turning {
  /** Zero-based. */
  page: number
  pages: number
  isPaused: boolean
}

export function useTurning(pages: number): Turning {
  const [turned, setTurned] = useState(0)
  const [isPaused, setPaused] = useState(false)
  useEffect(() => {
    if (isPaused || pages < 2) return undefined
    const timer = setInterval(() => setTurned(before => before + 1), everyMs)
    return () => clearInterval(timer)
    // A turn by hand begins the time of the new page.
  }, [isPaused, pages, turned])
  // Runs before the page is painted, so that a key works as soon as its hint is visible.
  useLayoutEffect(() => {
    const onKeyDown = ({ key }: KeyboardEvent) => {
      if (key === 'ArrowRight') setTurned(before => before + 1)
      else if (key === 'ArrowLeft') setTurned(before => before - 1)
      else if (key === ' ') setPaused(before => !before)
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])
  return { page: pages === 0 ? 0 : ((turned % pages) + pages) % pages, pages, isPaused }
}
