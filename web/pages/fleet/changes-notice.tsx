/** Changes since the last visit from this browser, until the notice is dismissed. */

import { useLayoutEffect, useState } from 'preact/hooks'
import { countOf } from '../../../analytics/findings/value-words.ts'
import { addressOf } from '../../client/address.ts'
import { browserStorage } from '../../client/browser-storage.ts'
import { serverNowMs } from '../../client/clock.ts'
import { devicePath } from '../../client/routes.ts'
import { Banner } from '../../parts/banner.tsx'
import type { Times } from '../../theme/times.ts'
import type { Fleet } from './open-fleet.ts'
import { type Changes, changesSince, readVisit, visitOf, writeVisit } from './visit.ts'

const namesShown = 5

export function ChangesNotice({ fleet, times }: { fleet: Fleet; times: Times }) {
  const [changes, setChanges] = useState<Changes>()
  const isComplete = fleet.isComplete.value
  // Before the first paint, so that the notice does not move the list.
  useLayoutEffect(() => {
    if (!isComplete) return undefined
    const before = readVisit(browserStorage)
    if (before !== undefined) setChanges(changesSince(before, fleet.devices.peek()))
    const note = () => writeVisit(browserStorage, visitOf(fleet.devices.peek(), serverNowMs.peek()))
    // Phones may report only that the page is hidden, not that it is closed.
    addEventListener('pagehide', note)
    document.addEventListener('visibilitychange', note)
    return () => {
      note()
      removeEventListener('pagehide', note)
      document.removeEventListener('visibilitychange', note)
    }
  }, [fleet, isComplete])
  if (changes === undefined) return null
  return (
    <Banner kind="note" onDismiss={() => setChanges(undefined)}>
      Since your last visit ({times.dateTime(changes.sinceMs)}):{' '}
      <Group names={changes.becameSilent} what="became silent" />
      {changes.becameSilent.length > 0 && changes.cameBack.length > 0 ? '; ' : null}
      <Group names={changes.cameBack} what="came back" />.
    </Banner>
  )
}

function Group({ names, what }: { names: readonly string[]; what: string }) {
  if (names.length === 0) return null
  const more = names.length - namesShown
  return (
    <>
      {countOf(names.length, 'device')} {what} (
      {names.slice(0, namesShown).map((name, index) => (
        <span key={name}>
          {index === 0 ? '' : ', '}
          <a href={addressOf(devicePath(name))}>{name}</a>
        </span>
      ))}
      {more > 0 ? ` and ${more} more` : ''})
    </>
  )
}
