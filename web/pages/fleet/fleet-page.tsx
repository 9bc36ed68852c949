/** All devices, worst first: their states, and what they said last. */

import { useEffect } from 'preact/hooks'
import { addressOf, setArguments, urlArguments } from '../../client/address.ts'
import { serverNowMs, setServerTime } from '../../client/clock.ts'
import { devicePath } from '../../client/routes.ts'
import { deviceStates, type FleetAnswer, type FleetDevice } from '../../client/shapes.ts'
import { useResource } from '../../client/use-resource.ts'
import { useTitle } from '../../client/use-title.ts'
import { FailureBanner } from '../../parts/failure-banner.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { countText, type MetricName, valueText } from '../../text/numbers.ts'
import { ageText, createTimes } from '../../text/times.ts'

const everyMs = 5_000
const shownMetrics: MetricName[] = ['temperature', 'humidity', 'pressure']

export function FleetPage() {
  useTitle('Fleet')
  const search = urlArguments.value.get('q') ?? ''
  const question = search === '' ? '' : `?q=${encodeURIComponent(search)}`
  const state = useResource<FleetAnswer>(addressOf(`/api/fleet${question}`), { everyMs })
  const answer = state.kind === 'ready' || state.kind === 'stale' ? state.value : undefined
  useEffect(() => {
    if (answer !== undefined) setServerTime(answer.generated_at)
  }, [answer])
  return (
    <>
      <h1>Fleet</h1>
      <FailureBanner state={state} timeText={createTimes(answer?.time_zone ?? 'UTC').time} />
      <label>
        Search{' '}
        <input
          type="search"
          value={search}
          onInput={({ currentTarget }) => setArguments({ q: currentTarget.value }, { replace: true })}
        />
      </label>
      {state.kind === 'loading' ? <Skeleton name="The fleet is loading" /> : null}
      {answer === undefined ? null : <Devices answer={answer} />}
    </>
  )
}

function Devices({ answer: { counts, devices } }: { answer: FleetAnswer }) {
  return (
    <>
      <ul>
        {deviceStates.map(state => (
          <li key={state}>
            <StateBadge state={state} /> {countText(counts[state])}
          </li>
        ))}
      </ul>
      <ul>
        {devices.map(device => (
          <Device key={device.device} device={device} />
        ))}
      </ul>
    </>
  )
}

function Device({ device: { device, location_short, state, last_seen, values } }: { device: FleetDevice }) {
  const age = last_seen === null ? 'no reading yet' : ageText(serverNowMs.value - last_seen)
  return (
    <li>
      <StateBadge state={state} /> <a href={addressOf(devicePath(device))}>{device}</a> {location_short} {age}{' '}
      {shownMetrics.map(name => valueText(name, values[name])).join(' ')}
    </li>
  )
}
