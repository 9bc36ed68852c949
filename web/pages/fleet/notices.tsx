/** Notices above the list: changes since the last visit, two common rules for a fleet without any, and the way to a first device. */

import { useLayoutEffect, useState } from 'preact/hooks'
import { addressOf } from '../../client/address.ts'
import { browserStorage, readItem, writeItem } from '../../client/browser-storage.ts'
import { serverNowMs } from '../../client/clock.ts'
import { lastValue } from '../../client/resource-state.ts'
import { devicePath } from '../../client/routes.ts'
import { isSignedIn, visitor } from '../../client/session.ts'
import { useResource } from '../../client/use-resource.ts'
import { Banner } from '../../parts/loading.tsx'
import { navigationFor } from '../../theme/frame.ts'
import type { Times } from '../../theme/times.ts'
import { t, tn, tp, words } from '../../words/words.ts'
import { presets } from '../alerts/rule-form.ts'
import type { Fleet } from './fleet-list.ts'
import { firstReading } from './fleet-view.ts'
import { type Changes, changesSince, readVisit, visitOf, writeVisit } from './visit.ts'

const namesShown = 5

export function ChangesNotice({ fleet, times }: { fleet: Fleet; times: Times }) {
  const [changes, setChanges] = useState<Changes>()
  const isComplete = fleet.isComplete.value
  // The notice is read before the first paint, so that it does not move the list.
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
      {t('Since your last visit ({time}):', { time: times.dateTime(changes.sinceMs) })}{' '}
      <Group
        names={changes.becameSilent}
        text={count => tn(count, '{count} device became silent', '{count} devices became silent')}
      />
      {changes.becameSilent.length > 0 && changes.cameBack.length > 0 ? '; ' : null}
      <Group
        names={changes.cameBack}
        text={count => tn(count, '{count} device came back', '{count} devices came back')}
      />
      .
    </Banner>
  )
}

function Group({ names, text }: { names: readonly string[]; text: (count: number) => string }) {
  if (names.length === 0) return null
  const more = names.length - namesShown
  return (
    <>
      {text(names.length)} (
      {names.slice(0, namesShown).map((name, index) => (
        <span key={name}>
          {index === 0 ? '' : ', '}
          <a href={addressOf(devicePath(name))}>{name}</a>
        </span>
      ))}
      {more > 0 ? t(' and {more} more', { more }) : ''})
    </>
  )
}

const storageKey = 'barograph.first-rules'

export function FirstRules() {
  const [isDismissed, setDismissed] = useState(() => readItem(browserStorage, storageKey) !== undefined)
  const isAsked = isSignedIn.value && !isDismissed
  const rules = lastValue(
    useResource<{ rules: unknown[] }>(isAsked ? addressOf('/api/alert-rules?limit=1') : undefined),
  )
  if (!isAsked || rules === undefined || rules.rules.length > 0) return null
  const dismiss = () => {
    writeItem(browserStorage, storageKey, 'dismissed')
    setDismissed(true)
  }
  return (
    <Banner kind="note" onDismiss={dismiss}>
      <p>{t('No rule notifies you yet.')}</p>
      <p class="actions">
        {Object.entries(presets).map(([name, { title }]) => (
          <a key={name} class="button" href={addressOf(`/alerts/rules/new?preset=${name}`)}>
            {title}
          </a>
        ))}
      </p>
    </Banner>
  )
}

export function EmptyFleet() {
  const mayAdd = navigationFor(visitor.value, words).some(({ page }) => page === 'admin')
  return (
    <section class="card" aria-labelledby="empty-title">
      <h2 id="empty-title">{t('No device yet')}</h2>
      {mayAdd ? (
        <p>
          <a class="button strong" href={addressOf('/admin')}>
            {t('Add a device')}
          </a>
        </p>
      ) : null}
      <p>
        {tp(
          'Add one where the service runs, where {port} and {folder} are the same if they are set; this prints its password, which is shown only once:',
          { port: <code>PORT</code>, folder: <code>DATA_DIR</code> },
        )}
      </p>
      <pre>{firstReading.add}</pre>
      <p>{t('Use the password to send a reading:')}</p>
      <pre>{firstReading.send(location.origin)}</pre>
      <p>{t('It appears here by itself.')}</p>
      <p>
        {t('Where reads are private, this page shows the devices that you own. An administrator gives them to you.')}
      </p>
    </section>
  )
}
