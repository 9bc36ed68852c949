/** The links by which others see a saved view: made with an end, shown once, listed and revoked. */

import { useState } from 'preact/hooks'
import type { ViewLink } from '../../auth/views/link.ts'
import type { View } from '../../auth/views/view.ts'
import { addressOf } from '../client/address.ts'
import { useRefreshed } from '../client/use-resource.ts'
import { shownZone } from '../text/preferences.ts'
import { createTimes } from '../text/times.ts'
import { RowButton } from './row-button.tsx'
import { SecretOnce } from './secret-once.tsx'
import { useActions } from './use-actions.tsx'

const api = '/v1/auth/me'

const lifetimes = [
  { days: 1, text: '1 day' },
  { days: 7, text: '7 days' },
  { days: 30, text: '30 days' },
  { days: 90, text: '90 days' },
  { days: 365, text: '1 year' },
]
const daysUsual = 30

export function ViewLinks({ view, onClose }: { view: View; onClose: () => void }) {
  const { state, refresh } = useRefreshed<ViewLink[]>(addressOf(`${api}/view-links`))
  const { actions, notice } = useActions(api, refresh)
  const [token, setToken] = useState<string>()
  const links = state.kind === 'ready' || state.kind === 'stale' ? state.value : []
  const live = links.filter(link => link.view_id === view.id && isLive(link))
  return (
    <section class="links" aria-label={`Links to ${view.name}`}>
      {notice}
      {token === undefined ? null : <Made token={token} onDone={() => setToken(undefined)} />}
      <form
        onSubmit={event => {
          event.preventDefault()
          const days = Number(new FormData(event.currentTarget).get('days'))
          void actions
            .change<{ token: string }>(
              'POST',
              `/views/${view.id}/links`,
              { expires_in_days: days },
              'The link is made.',
            )
            .then(made => setToken(made?.token))
        }}
      >
        <p class="note">
          Whoever has a link sees this view without an account: its devices and their readings, nothing else. A view of
          the fleet shows the devices with its tags and its search, whatever their state is.
        </p>
        <label class="field">
          Valid for
          <select name="days">
            {lifetimes.map(({ days, text }) => (
              <option key={days} value={days} selected={days === daysUsual}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <div class="actions">
          <button type="submit" class="button strong" disabled={actions.isBusy}>
            Make a link
          </button>
          <button type="button" class="button" onClick={onClose}>
            Done
          </button>
        </div>
      </form>
      {live.map(link => (
        <p key={link.id}>
          <code>{link.prefix}…</code> until {endOf(link)}{' '}
          <RowButton
            name={link.prefix}
            text="Revoke"
            onClick={() => void actions.change('DELETE', `/view-links/${link.id}`, undefined, 'The link is revoked.')}
          />
        </p>
      ))}
    </section>
  )
}

function isLive({ revoked_at, expires_at }: ViewLink): boolean {
  return revoked_at === null && Date.parse(expires_at) > Date.now()
}

function endOf({ expires_at }: ViewLink): string {
  return createTimes(shownZone('UTC')).dateTime(Date.parse(expires_at))
}

function Made({ token, onDone }: { token: string; onDone: () => void }) {
  const shared = `${location.origin}${addressOf('/shared')}#${token}`
  return (
    <SecretOnce
      title="The link"
      text="It is shown this once. Whoever has it sees the view until it expires or is revoked."
      parts={[{ name: 'Address', text: shared }]}
      onDone={onDone}
    />
  )
}
